// The first pass of an import: is every line good, by itself and beside the others and what is stored?
import type { FileHandle } from 'node:fs/promises'
import type { Store } from '../store/store.ts'
import { type Line, readLines } from './lines.ts'
import { type DocumentRecord, type ImportRecord, RecordError, type RecordFields, readRecord } from './record.ts'
import { createRefClaims } from './ref-claims.ts'

/** An export whose elements have lines of their own. */
export interface SplitExport {
  readonly line: number
  lastLine: number
  /** The first bad line that is, or may be, one of its elements. */
  brokenBy: number | null
}

export interface CheckedInput {
  /** Reasons by line number. */
  readonly bad: ReadonlyMap<number, string>
  readonly splitExports: ReadonlyMap<string, SplitExport>
  readonly records: number
}

export type OnProgress = (bytes: number, records: number) => void

export async function checkInput(
  file: FileHandle,
  fields: RecordFields,
  store: Store,
  onProgress: OnProgress,
): Promise<CheckedInput> {
  const bad = new Map<number, string>()
  const splitExports = new Map<string, SplitExport>()
  const claims = createRefClaims()
  let records = 0
  /** The split export that the last line belonged to, and the bad line after it whose kind is not known. */
  let current: SplitExport | null = null
  let unreadable: number | null = null

  function check(line: Line): DocumentRecord | null {
    const record = requireRecord(line, fields)
    const belongsTo = splitExportOf(record, line.number)
    if (unreadable !== null) {
      breakExport(current, unreadable)
      breakExport(belongsTo, unreadable)
      unreadable = null
    }
    current = belongsTo
    if (record.kind !== 'project' || record.ref === null) return null
    if (!claims.claim(record.email, record.ref, record.id)) {
      throw new RecordError(`reference "${record.ref}" is used by another project of this user earlier in the file`)
    }
    return record
  }

  function splitExportOf(record: ImportRecord, line: number): SplitExport | null {
    if (record.kind === 'export' && record.id !== null) {
      if (splitExports.has(record.id)) throw new RecordError(`there is an export with the id "${record.id}" before`)
      const started = { line, lastLine: line, brokenBy: null }
      splitExports.set(record.id, started)
      return started
    }
    if (record.kind !== 'exportElement') return null
    const found = splitExports.get(record.export)
    if (!found) throw new RecordError(`there is no good export with the id "${record.export}" before`)
    found.lastLine = line
    return found
  }

  for await (const { lines, endOffset } of readLines(file)) {
    const projects: { readonly line: number; readonly record: DocumentRecord }[] = []
    for (const line of lines) {
      records += 1
      try {
        const project = check(line)
        if (project) projects.push({ line: line.number, record: project })
      } catch (error) {
        if (!(error instanceof RecordError)) throw error
        bad.set(line.number, error.message)
        unreadable ??= line.number
      }
    }
    const holders = await store.projectIdsByRef(
      projects.map(({ record }) => ({ email: record.email, ref: record.ref ?? '' })),
    )
    projects.forEach(({ line, record }, index) => {
      const holder = holders[index] ?? null
      if (holder === null || holder === record.id) return
      bad.set(line, `reference "${record.ref}" is used by another stored project of this user, "${holder}"`)
    })
    onProgress(endOffset, records)
  }
  if (unreadable !== null) breakExport(current, unreadable)
  for (const { line, brokenBy } of splitExports.values()) {
    if (brokenBy !== null && !bad.has(line)) bad.set(line, `line ${brokenBy}, an element of this export, is bad`)
  }
  return { bad, splitExports, records }
}

/** Throws `RecordError`. */
export function requireRecord({ text, problem }: Line, fields: RecordFields): ImportRecord {
  if (text === null) throw new RecordError(problem ?? 'unreadable')
  return readRecord(text, fields)
}

function breakExport(broken: SplitExport | null, line: number): void {
  if (broken) broken.brokenBy ??= line
}
