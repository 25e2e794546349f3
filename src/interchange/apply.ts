// The second pass of an import: good lines into the store, in short transactions that leave room for others.
import { randomUUID } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Change, ChangeOutcome, Store } from '../store/store.ts'
import { type CheckedInput, type OnProgress, requireRecord } from './check.ts'
import { createExportDigest, type ExportDigest } from './export-digest.ts'
import { type Line, readLines } from './lines.ts'
import { createRecordReader, type ExportRecord, type RecordFields } from './record.ts'

/** Others wait for the write lock no longer than one transaction takes; its size follows the time it takes. */
const TARGET_TRANSACTION_MS = 30
const MIN_CHANGES = 16
const MAX_CHANGES = 4_096
const MAX_TEXT_LENGTH = 2_097_152
/** Long enough for somebody who asks for the lock every millisecond to get it. */
const PAUSE_MS = 3
/** A staged export that nobody has touched for this long was left by an import that died. */
const STALE_STAGE_MS = 600_000

export interface ApplyOptions {
  readonly fields: RecordFields
  readonly clock: () => number
  readonly onProgress: OnProgress
  /** Called for each line that is not applied. */
  readonly onRejected: (line: Line, reason: string) => Promise<void>
}

export type Counts = { readonly [O in Exclude<ChangeOutcome, 'staged' | 'refTaken'>]: number }

interface Staged {
  readonly stage: string
  readonly digest: ExportDigest
  position: number
}

export async function applyInput(
  file: FileHandle,
  { bad, splitExports }: CheckedInput,
  store: Store,
  options: ApplyOptions,
): Promise<Counts> {
  const { fields, clock, onProgress, onRejected } = options
  while (!(await store.dropStaleStages(clock() - STALE_STAGE_MS))) await delay(PAUSE_MS)
  const readRecord = createRecordReader(fields)
  const importId = randomUUID()
  const counts = { added: 0, replaced: 0, unchanged: 0 }
  const open = new Map<string, Staged>()
  const batch = createBatch(store)
  let records = 0

  async function put(change: Change, line: Line | null): Promise<void> {
    const done = batch.add(change, line)
    if (done) await countAll(await done)
  }

  async function countAll(outcomes: readonly Applied[]): Promise<void> {
    for (const { outcome, line } of outcomes) {
      if (outcome === 'refTaken' && line) await onRejected(line, 'its reference was taken by another project meanwhile')
      else if (outcome !== 'refTaken' && outcome !== 'staged') counts[outcome] += 1
    }
  }

  async function begin({ email, ref, createdAt, instant }: ExportRecord, line: Line): Promise<Staged> {
    const stage = `${importId}:${line.number}`
    await put({ type: 'stageExport', stage, email, ref, createdAt, instant, now: clock() }, null)
    return { stage, digest: createExportDigest(), position: 1 }
  }

  async function append(staged: Staged, texts: readonly string[]): Promise<void> {
    for (const text of texts) {
      staged.digest.add(text)
      await put(
        { type: 'stageElements', stage: staged.stage, position: staged.position, texts: [text], now: clock() },
        null,
      )
      staged.position += 1
    }
  }

  async function finish(staged: Staged): Promise<void> {
    await put({ type: 'sealExport', stage: staged.stage, ...staged.digest.finish() }, null)
  }

  async function apply(line: Line): Promise<void> {
    const record = requireRecord(line, readRecord)
    if (record.kind === 'export') {
      const staged = await begin(record, line)
      await append(staged, record.elements)
      if (record.id === null || splitExports.get(record.id)?.lastLine === line.number) await finish(staged)
      else open.set(record.id, staged)
    } else if (record.kind === 'exportElement') {
      const staged = open.get(record.export)
      if (!staged) throw new Error('an element before its export')
      await append(staged, [record.text])
      if (splitExports.get(record.export)?.lastLine === line.number) {
        open.delete(record.export)
        await finish(staged)
      }
    } else {
      const { kind, email, id, ref, text } = record
      await put({ type: 'putDocument', kind, email, id, ref, text }, line)
    }
  }

  for await (const { lines, endOffset } of readLines(file)) {
    for (const line of lines) {
      records += 1
      const reason = bad.get(line.number) ?? brokenExportReason(line)
      if (reason !== undefined) await onRejected(line, reason)
      else await apply(line)
    }
    onProgress(endOffset, records)
  }
  await countAll(await batch.flush())
  return counts

  /** A good element of an export that has a bad one. */
  function brokenExportReason(line: Line): string | undefined {
    if (bad.size === 0) return undefined
    const record = requireRecord(line, readRecord)
    const brokenBy = record.kind === 'exportElement' ? splitExports.get(record.export)?.brokenBy : null
    return brokenBy == null ? undefined : `line ${brokenBy}, an element of the same export, is bad`
  }
}

interface Applied {
  readonly outcome: ChangeOutcome
  readonly line: Line | null
}

/** Collects changes and applies them when they are many or large enough for one transaction. */
function createBatch(store: Store) {
  let changes: Change[] = []
  let lines: (Line | null)[] = []
  let textLength = 0
  let maxChanges = MIN_CHANGES * 8
  let unlockedAt = Number.NEGATIVE_INFINITY

  async function flush(): Promise<readonly Applied[]> {
    if (changes.length === 0) return []
    const [applying, from] = [changes, lines]
    changes = []
    lines = []
    textLength = 0
    // What was read meanwhile is most of the pause.
    const rest = unlockedAt + PAUSE_MS - performance.now()
    if (rest > 0) await delay(rest)
    const start = performance.now()
    const outcomes = await store.applyChanges(applying)
    unlockedAt = performance.now()
    const took = unlockedAt - start
    const fitting = Math.round(applying.length * Math.min(2, Math.max(0.5, TARGET_TRANSACTION_MS / took)))
    maxChanges = Math.min(MAX_CHANGES, Math.max(MIN_CHANGES, fitting))
    return outcomes.map((outcome, index) => ({ outcome, line: from[index] ?? null }))
  }

  return {
    flush,
    /** A promise when this change filled the batch. */
    add(change: Change, line: Line | null): Promise<readonly Applied[]> | null {
      changes.push(change)
      lines.push(line)
      textLength += textLengthOf(change)
      return changes.length >= maxChanges || textLength >= MAX_TEXT_LENGTH ? flush() : null
    },
  }
}

function textLengthOf(change: Change): number {
  if (change.type === 'putDocument') return change.text.length
  return change.type === 'stageElements' ? change.texts.reduce((sum, text) => sum + text.length, 0) : 0
}
