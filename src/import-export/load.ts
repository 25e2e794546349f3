// The second pass of an import: writes the valid lines into the store.
import { randomUUID } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import type { Change, ChangeOutcome, Store } from '../store/contract.ts'
import { LAST_DOCUMENT_POSITION } from '../store/reads-contract.ts'
import { createChangeBatch } from './change-batch.ts'
import { type CheckedInput, type OnProgress, requireRecord } from './checks/validate.ts'
import { createExportDigest, type ExportDigest } from './export-digest.ts'
import { InputChangedError, type Line, readLines } from './format/lines.ts'
import { createRecordReader, type DocumentRecord, type ExportRecord, type RecordFields } from './format/read-record.ts'
import { dropAllStale, TOUCH_EVERY_MS } from './stale-stages.ts'

export interface LoadOptions {
  readonly fields: RecordFields
  readonly clock: () => number
  readonly onProgress: OnProgress
  /** Called for each bad line. Without it, the input must not have any. */
  readonly onBad?: (line: Line) => Promise<void>
  /** Called for every other line that is not applied. */
  readonly onRejected: (line: Line, reason: string) => Promise<void>
}

type Refusal = keyof typeof REFUSED

/** Reasons why the store refused a document that was valid during the check. */
const REFUSED = {
  refTaken: 'another project has taken its reference meanwhile',
  listFull: `its list has no position left after ${LAST_DOCUMENT_POSITION}: replace the user to number the list anew`,
} as const satisfies Partial<Record<ChangeOutcome, string>>

export type Counts = { readonly [O in Exclude<ChangeOutcome, 'staged' | Refusal>]: number }

interface Staged {
  readonly stage: string
  readonly digest: ExportDigest
  position: number
}

/**
 * Applies the lines that `checkInput` found valid. Not atomic: what was applied before a failure stays, and the same
 * import may be run again. Throws `InputChangedError` if the file is not the one that was checked.
 */
export async function loadInput(
  file: FileHandle,
  { bad, splitExports, notes, checksums }: CheckedInput,
  store: Pick<Store, 'applyChanges' | 'dropStaleStages'>,
  options: LoadOptions,
): Promise<Counts> {
  const { fields, clock, onProgress, onBad, onRejected } = options
  let touchedAt = clock()
  await dropAllStale(store, touchedAt)
  const readRecord = createRecordReader(fields)
  const readNote = notes.createReader()
  const importId = randomUUID()
  const counts = { added: 0, replaced: 0, unchanged: 0, removed: 0 }
  const open = new Map<string, Staged>()
  const batch = createChangeBatch(store, count)
  let records = 0
  let blocks = 0

  async function count(outcomes: readonly ChangeOutcome[], lines: readonly (Line | null)[]): Promise<void> {
    for (const [index, outcome] of outcomes.entries()) {
      const line = lines[index]
      if (isRefusal(outcome)) {
        if (line) await onRejected(line, REFUSED[outcome])
      } else if (outcome !== 'staged') counts[outcome] += 1
    }
  }

  async function put(change: Change): Promise<void> {
    await batch.add(change, null)
  }

  function putDocument({ kind, email, id, ref, text }: DocumentRecord, line: Line): Promise<void> | null {
    return batch.add({ type: 'putDocument', kind, email, id, ref, text }, line)
  }

  async function begin({ email, ref, createdAt, instant }: ExportRecord, line: Line): Promise<Staged> {
    const stage = `${importId}:${line.number}`
    await put({ type: 'stageExport', stage, email, ref, createdAt, instant, now: clock() })
    return { stage, digest: createExportDigest(), position: 1 }
  }

  async function append(staged: Staged, texts: readonly string[]): Promise<void> {
    for (const text of texts) {
      staged.digest.add(text)
      await put({ type: 'stageElements', stage: staged.stage, position: staged.position, texts: [text], now: clock() })
      staged.position += 1
    }
  }

  async function finish(staged: Staged): Promise<void> {
    await put({ type: 'sealExport', stage: staged.stage, ...staged.digest.finish() })
  }

  /**
   * Touches open exports: their next elements may be far ahead, and untouched stages are dropped as those of a dead
   * import.
   */
  async function touchOpen(): Promise<void> {
    const now = clock()
    if (open.size === 0 || now - touchedAt < TOUCH_EVERY_MS) return
    touchedAt = now
    for (const { stage, position } of open.values()) {
      await put({ type: 'stageElements', stage, position, texts: [], now })
    }
    await batch.flush()
  }

  /** Applies a line without a note. */
  async function apply(line: Line): Promise<void> {
    const record = requireRecord(line, readRecord)
    if (record.kind === 'export') {
      const staged = await begin(record, line)
      await append(staged, record.elements)
      if (record.id === null || splitExports.get(record.id)?.lastLine === line.number) await finish(staged)
      else open.set(record.id, staged)
    } else if (record.kind === 'exportElement') {
      const staged = open.get(record.export)
      if (!staged) throw new Error('the element comes before its export')
      await append(staged, [record.text])
      if (splitExports.get(record.export)?.lastLine === line.number) {
        open.delete(record.export)
        await finish(staged)
      }
    } else if (record.kind === 'user') {
      await put({ type: 'addUser', email: record.email })
    } else if (record.kind === 'removal') {
      await put(record.change)
    } else {
      await putDocument(record, line)
    }
  }

  for await (const { lines, endOffset, checksum } of readLines(file)) {
    // The notes are valid only for the input that was checked.
    if (checksum !== checksums[blocks]) throw new InputChangedError()
    blocks += 1
    await touchOpen()
    for (const line of lines) {
      records += 1
      const document = readNote(line.text ?? '')
      if (bad.has(line.number)) {
        await onBad?.(line)
      } else if (document) {
        // Most documents are only buffered. Not awaiting them saves one microtask each.
        const applying = putDocument(document, line)
        if (applying) await applying
      } else {
        const reason = brokenExportReason(line)
        if (reason === null) await apply(line)
        else await onRejected(line, reason)
      }
    }
    onProgress(endOffset, records)
  }
  await batch.flush()
  if (blocks < checksums.length) throw new InputChangedError()
  return counts

  /** The reason to reject a valid element of an export that has a bad element; null for other lines. */
  function brokenExportReason(line: Line): string | null {
    if (bad.size === 0) return null
    const record = requireRecord(line, readRecord)
    const brokenBy = record.kind === 'exportElement' ? splitExports.get(record.export)?.brokenBy : null
    return brokenBy == null ? null : `line ${brokenBy}, an element of the same export, is bad`
  }
}

function isRefusal(outcome: ChangeOutcome): outcome is Refusal {
  return Object.hasOwn(REFUSED, outcome)
}
