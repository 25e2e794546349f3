// The first pass of an import: checks each line by itself, against the other lines and against the store.
import type { FileHandle } from 'node:fs/promises'
import type { Store } from '../../store/contract.ts'
import { RecordError } from '../format/envelope.ts'
import { createLineNotes, type LineNotes } from '../format/line-index.ts'
import { InputChangedError, type Line, type LinePlace, readLineAt, readLines } from '../format/lines.ts'
import {
  createRecordReader,
  type DocumentRecord,
  type ExportRecord,
  type ImportRecord,
  type RecordFields,
  type RecordReader,
} from '../format/read-record.ts'
import type { RemovalRecord } from '../format/removal-record.ts'
import { type BadLines, createBadLines } from './bad-lines.ts'
import { createOrphanExports, type Orphans } from './orphan-exports.ts'
import type { NamedByUser } from './place-index.ts'
import { createProjectRefs } from './project-refs.ts'
import { WHOLE_USER } from './removed-names.ts'
import { createSplitExports, type SplitExport } from './split-exports.ts'
import type { RefClaim } from './unique-refs.ts'

export interface CheckedInput {
  readonly bad: BadLines
  readonly splitExports: ReadonlyMap<string, SplitExport>
  readonly records: number
  /** Whether the import may remove something: it is a replacement, or the input has records that remove. */
  readonly mayRemove: boolean
  /** Exports whose project is neither in the input nor stored, or is removed before them: no reader sees them. */
  readonly orphanExports: number
  /** Only the first references. */
  readonly orphans: readonly Orphans[]
  /** A note for each line that is not blank. */
  readonly notes: LineNotes
  /** One checksum per block of lines. */
  readonly checksums: readonly number[]
}

export type OnProgress = (bytes: number, records: number) => void

export interface CheckOptions {
  /** The stored data will be replaced: it holds no references, and removal records are errors. */
  readonly isReplacement?: boolean
  /**
   * Called for each document, in the order of the lines. Throws `RecordError` for a document that conflicts with an
   * earlier one.
   */
  readonly requireDocument?: (document: DocumentRecord) => void
}

export async function checkInput(
  file: FileHandle,
  fields: RecordFields,
  store: Store,
  onProgress: OnProgress,
  { isReplacement = false, requireDocument = () => {} }: CheckOptions = {},
): Promise<CheckedInput> {
  const bad = createBadLines()
  const splitExports = createSplitExports()
  const readRecord = createRecordReader(fields)
  const refs = createProjectRefs({ readProject, readRemoved })
  const orphans = createOrphanExports(readExportedRef)
  /** Exports of the current block without a project before them, by `unclaimedKey`. */
  const unclaimed = new Map<string, { readonly email: string; readonly ref: string; readonly lines: Line[] }>()
  const notes = createLineNotes()
  const checksums: number[] = []
  let records = 0
  let mayRemove = isReplacement

  /** `stored` is the id of the stored project that has the record's reference. */
  function check(record: ImportRecord, line: Line, stored: string | null): DocumentRecord | null {
    splitExports.note(record, line.number)
    if (record.kind === 'removal') noteRemoval(record, line)
    if (record.kind === 'export') noteExport(record, line, stored)
    if (!isDocument(record)) return null
    const { email, ref, id } = record
    if (ref !== null) {
      refs.claim({ email, ref, id }, line, stored)
      // At once, because a later line may remove the project with its exports, or give them its new reference. With
      // replace they stay under the reference in their line.
      if (!isReplacement) unclaimed.delete(unclaimedKey(email, ref))
      orphans.adopt({ email, name: ref })
    }
    requireDocument(record)
    return record
  }

  /** Looks up the stored projects for the records of a block. Skips exports whose reference an earlier project has. */
  async function storedProjects(
    found: readonly (ImportRecord | string)[],
  ): Promise<ReadonlyMap<unknown, string | null>> {
    if (isReplacement) return new Map()
    const asking = found.filter((record) => typeof record !== 'string').filter(needsProject)
    const holders = await store.projectIdsByRef(asking.map(({ email, ref }) => ({ email, ref: ref ?? '' })))
    return new Map(asking.map((record, index) => [record, holders[index] ?? null]))
  }

  function needsProject(record: ImportRecord): record is ExportRecord | DocumentRecord {
    return record.kind === 'project' || (record.kind === 'export' && !refs.isClaimed(record))
  }

  function readProject(place: LinePlace): RefClaim {
    const record = readRecord(readLineAt(file, place))
    if (record.kind !== 'project' || record.ref === null) throw new InputChangedError()
    return { email: record.email, ref: record.ref, id: record.id }
  }

  function readExportedRef(place: LinePlace): NamedByUser {
    const record = readRecord(readLineAt(file, place))
    if (record.kind !== 'export') throw new InputChangedError()
    return { email: record.email, name: record.ref }
  }

  function noteExport({ email, ref }: ExportRecord, line: Line, stored: string | null): void {
    if (refs.isClaimed({ email, ref })) return
    if (stored !== null && refs.isKept({ email, name: stored }, line)) return
    const key = unclaimedKey(email, ref)
    const known = unclaimed.get(key)
    if (known) known.lines.push(line)
    else unclaimed.set(key, { email, ref, lines: [line] })
  }

  /** Called at the end of each block, because the project may follow its export within the block. */
  function noteOrphans(): void {
    for (const { email, ref, lines } of unclaimed.values()) {
      if (refs.isClaimed({ email, ref })) continue
      for (const line of lines) orphans.add({ email, name: ref }, line)
    }
    unclaimed.clear()
  }

  function noteRemoval(record: RemovalRecord, line: Line): void {
    if (isReplacement) {
      throw new RecordError('removals cannot be used with replace, which removes whatever the input lacks')
    }
    mayRemove = true
    const name = removedName(record)
    if (name !== null) refs.remove(name, line)
    splitExports.end(record, line.number)
  }

  function readRemoved(place: LinePlace): NamedByUser {
    const record = readRecord(readLineAt(file, place))
    const name = record.kind === 'removal' ? removedName(record) : null
    if (name === null) throw new InputChangedError()
    return name
  }

  /** Returns the record, or the reason why the line is bad. */
  function read(line: Line): ImportRecord | string {
    return orReason(() => requireRecord(line, readRecord))
  }

  function noteBad(line: Line, reason: string): null {
    bad.add(line.number, reason)
    splitExports.noteBad(line)
    return null
  }

  for await (const { lines, endOffset, checksum } of readLines(file)) {
    checksums.push(checksum)
    const found = lines.map(read)
    const stored = await storedProjects(found)
    for (const [index, line] of lines.entries()) {
      records += 1
      const record = found[index] ?? ''
      const document =
        typeof record === 'string' ? record : orReason(() => check(record, line, stored.get(record) ?? null))
      notes.add(line.text ?? '', typeof document === 'string' ? noteBad(line, document) : document)
    }
    noteOrphans()
    onProgress(endOffset, records)
  }
  for (const { line, brokenBy } of splitExports.byId.values()) {
    if (brokenBy !== null) bad.add(line, `line ${brokenBy}, an element of this export, is bad`)
  }
  return {
    bad,
    splitExports: splitExports.byId,
    records,
    mayRemove,
    orphanExports: orphans.count(),
    orphans: orphans.first(),
    notes,
    checksums,
  }
}

/** Unique, because an email contains no space. */
function unclaimedKey(email: string, ref: string): string {
  return `${email} ${ref}`
}

/** Returns the result of `run`, or the reason why the line is bad. */
function orReason<T>(run: () => T): T | string {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof RecordError)) throw error
    return error.message
  }
}

/** The name that a removal frees for others: the id of a project, or the whole user. */
function removedName({ email, change }: RemovalRecord): NamedByUser | null {
  if (change.type === 'removeUser') return { email, name: WHOLE_USER }
  return change.type === 'removeDocument' && change.kind === 'project' ? { email, name: change.id } : null
}

export function isDocument(record: ImportRecord): record is DocumentRecord {
  return record.kind === 'project' || record.kind === 'template' || record.kind === 'uiLibrary'
}

/** Throws `RecordError` for a line without text and for a bad record. */
export function requireRecord({ text, problem }: Line, readRecord: RecordReader): ImportRecord {
  if (text === null) throw new RecordError(problem ?? 'unreadable')
  return readRecord(text)
}
