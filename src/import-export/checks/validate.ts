// The first pass of an import: is every line good, by itself and beside the others and what is stored?
import type { FileHandle } from 'node:fs/promises'
import type { Store } from '../../store/contract.ts'
import { RecordError } from '../format/envelope.ts'
import { createLineNotes, type LineNotes } from '../format/line-index.ts'
import { InputChangedError, type Line, type LinePlace, readLineAt, readLines } from '../format/lines.ts'
import {
  createRecordReader,
  type DocumentRecord,
  type ImportRecord,
  type RecordFields,
  type RecordReader,
} from '../format/read-record.ts'
import type { RemovalRecord } from '../format/removal-record.ts'
import { createOrphanExports, type Orphans } from './orphan-exports.ts'
import type { NamedByUser } from './place-index.ts'
import { createRemovedNames, WHOLE_USER } from './removed-names.ts'
import { createSplitExports, type SplitExport } from './split-exports.ts'
import { createRefClaims, type RefClaim } from './unique-refs.ts'

export interface CheckedInput {
  /** Reasons by line number. */
  readonly bad: ReadonlyMap<number, string>
  readonly splitExports: ReadonlyMap<string, SplitExport>
  readonly records: number
  /** Exports whose project is neither in the input nor stored, or goes before them: nobody sees them. */
  readonly orphanExports: number
  /** The first of them. */
  readonly orphans: readonly Orphans[]
  /** Of each line that is not blank. */
  readonly notes: LineNotes
  /** Of each block of lines. */
  readonly checksums: readonly number[]
}

export type OnProgress = (bytes: number, records: number) => void

export interface CheckOptions {
  /** What is stored goes: it takes no reference, and there is nothing to remove. */
  readonly isReplacement?: boolean
  /** Told of each document in the order of the lines. Throws `RecordError` for one that is bad beside those before it. */
  readonly requireDocument?: (document: DocumentRecord) => void
}

export async function checkInput(
  file: FileHandle,
  fields: RecordFields,
  store: Store,
  onProgress: OnProgress,
  { isReplacement = false, requireDocument = () => {} }: CheckOptions = {},
): Promise<CheckedInput> {
  const bad = new Map<number, string>()
  const splitExports = createSplitExports()
  const readRecord = createRecordReader(fields)
  const removed = createRemovedNames(readRemovedName)
  const claims = createRefClaims({
    readClaim,
    isVoid: ({ email, id }, { startOffset }) => removed.isRemovedAfter({ email, name: id }, startOffset),
  })
  const orphans = createOrphanExports(readExportedRef)
  /** Of this block of lines, without a project before them. */
  let unclaimed: { readonly email: string; readonly ref: string; readonly line: Line }[] = []
  const notes = createLineNotes()
  const checksums: number[] = []
  let records = 0

  function check(line: Line): DocumentRecord | null {
    const record = requireRecord(line, readRecord)
    splitExports.note(record, line.number)
    if (record.kind === 'removal') noteRemoval(record, line)
    if (record.kind === 'export' && !claims.isClaimed(record)) {
      unclaimed.push({ email: record.email, ref: record.ref, line })
    }
    if (!isDocument(record)) return null
    const { email, ref, id } = record
    if (ref !== null && !claims.claim({ email, ref, id }, line)) {
      throw new RecordError(`reference "${ref}" is used by another project of this user earlier in the file`)
    }
    if (ref !== null) orphans.adopt({ email, name: ref })
    requireDocument(record)
    return record
  }

  function readClaim(place: LinePlace): RefClaim {
    const record = readRecord(readLineAt(file, place))
    if (record.kind !== 'project' || record.ref === null) throw new InputChangedError()
    return { email: record.email, ref: record.ref, id: record.id }
  }

  function readExportedRef(place: LinePlace): NamedByUser {
    const record = readRecord(readLineAt(file, place))
    if (record.kind !== 'export') throw new InputChangedError()
    return { email: record.email, name: record.ref }
  }

  /** Once the block has been read: the project may stand behind its export. */
  async function noteOrphans(): Promise<void> {
    const asked = unclaimed.filter((one) => !claims.isClaimed(one))
    unclaimed = []
    const holders = isReplacement ? [] : await store.projectIdsByRef(asked)
    asked.forEach(({ email, ref, line }, index) => {
      const holder = holders[index] ?? null
      const isStored = holder !== null && !removed.isRemovedBefore({ email, name: holder }, line.startOffset)
      if (!isStored) orphans.add({ email, name: ref }, line)
    })
  }

  function noteRemoval(record: RemovalRecord, line: Line): void {
    if (isReplacement) {
      throw new RecordError('when users are replaced, what is not in the input goes: there is nothing to remove in it')
    }
    const name = removedName(record)
    if (name !== null) removed.add(name, line)
    splitExports.end(record, line.number)
  }

  function readRemovedName(place: LinePlace): NamedByUser {
    const record = readRecord(readLineAt(file, place))
    const name = record.kind === 'removal' ? removedName(record) : null
    if (name === null) throw new InputChangedError()
    return name
  }

  /** Null for a line that is bad, or not a document. */
  function checkDocument(line: Line): DocumentRecord | null {
    try {
      return check(line)
    } catch (error) {
      if (!(error instanceof RecordError)) throw error
      bad.set(line.number, error.message)
      splitExports.noteBad(line)
      return null
    }
  }

  for await (const { lines, endOffset, checksum } of readLines(file)) {
    checksums.push(checksum)
    const projects: { readonly line: Line; readonly record: DocumentRecord }[] = []
    for (const line of lines) {
      records += 1
      const document = checkDocument(line)
      notes.add(line.text ?? '', document)
      if (document?.kind === 'project') projects.push({ line, record: document })
    }
    const holders = await store.projectIdsByRef(
      (isReplacement ? [] : projects).map(({ record }) => ({ email: record.email, ref: record.ref ?? '' })),
    )
    projects.forEach(({ line, record }, index) => {
      const holder = holders[index] ?? null
      if (holder === null || holder === record.id) return
      if (removed.isRemovedBefore({ email: record.email, name: holder }, line.startOffset)) return
      bad.set(line.number, `reference "${record.ref}" is used by another stored project of this user, "${holder}"`)
    })
    if (unclaimed.length > 0) await noteOrphans()
    onProgress(endOffset, records)
  }
  for (const { line, brokenBy } of splitExports.byId.values()) {
    if (brokenBy !== null && !bad.has(line)) bad.set(line, `line ${brokenBy}, an element of this export, is bad`)
  }
  return {
    bad,
    splitExports: splitExports.byId,
    records,
    orphanExports: orphans.count(),
    orphans: orphans.first(),
    notes,
    checksums,
  }
}

/** What a removal makes free for others: the id of a project, or all of a user. */
function removedName({ email, change }: RemovalRecord): NamedByUser | null {
  if (change.type === 'removeUser') return { email, name: WHOLE_USER }
  return change.type === 'removeDocument' && change.kind === 'project' ? { email, name: change.id } : null
}

export function isDocument(record: ImportRecord): record is DocumentRecord {
  return record.kind === 'project' || record.kind === 'template' || record.kind === 'uiLibrary'
}

/** Throws `RecordError`. */
export function requireRecord({ text, problem }: Line, readRecord: RecordReader): ImportRecord {
  if (text === null) throw new RecordError(problem ?? 'unreadable')
  return readRecord(text)
}
