// Runs a whole import and reports its progress as events, for POST /import and for its client.
import type { FileHandle } from 'node:fs/promises'
import type { Awaitable } from '../store/awaitable.ts'
import type { EditableStore, Swapped } from '../store/workspace-edits.ts'
import type { BadLine } from './checks/bad-lines.ts'
import type { Orphans } from './checks/orphan-exports.ts'
import { checkInput } from './checks/validate.ts'
import { flushRemovals } from './flush-removals.ts'
import type { RecordFields } from './format/read-record.ts'
import { type Counts, loadInput } from './load.ts'
import { replaceInput } from './replace.ts'

const PROGRESS_MS = 200
/**
 * How long to wait for readers of an older state. The data that they keep in the files leaves with the next removal or
 * `vacuum`.
 */
const FLUSH_PATIENCE_MS = 5_000

export type ImportEvent =
  | {
      readonly type: 'progress'
      readonly phase: 'checking' | 'importing'
      /** Bytes of the input. */
      readonly bytes: number
      readonly records: number
    }
  | ({ readonly type: 'badLine' } & BadLine)
  | ({ readonly type: 'user' } & Swapped)
  /** The last event. */
  | ({
      readonly type: 'imported' | 'wouldImport'
      readonly orphanExports: number
      /** Only the first references. */
      readonly orphans: readonly Orphans[]
    } & Counts)
  /** The last event. Nothing was imported. */
  | { readonly type: 'refused'; readonly badLines: number }
  /** The last event. What was already imported stays; another run continues. */
  | { readonly type: 'failed'; readonly message: string }

/** Whether it is the last event. */
export function isOutcome({ type }: ImportEvent): boolean {
  return type === 'imported' || type === 'wouldImport' || type === 'refused' || type === 'failed'
}

export interface ImportOptions {
  readonly isReplacement: boolean
  readonly isDryRun: boolean
  /** Whether each user is reported; for replacements only. */
  readonly isVerbose: boolean
  /** The members that hold ids and references, when they differ from the defaults. */
  readonly fields: Partial<RecordFields>
}

interface ImportTarget {
  readonly store: EditableStore
  /** Waited for where the number of events grows with the input. */
  readonly emit: (event: ImportEvent) => Awaitable<void>
  /** Checked after each block of lines, and after each user of a replacement. */
  readonly stop: AbortSignal
}

/** Throws the errors of the store, `InputChangedError`, and the abort reason of `stop`. It emits no event for them. */
export async function runImport(
  file: FileHandle,
  { isReplacement, isDryRun, isVerbose }: ImportOptions,
  fields: RecordFields,
  { store, emit, stop }: ImportTarget,
): Promise<void> {
  let toldAt = Number.NEGATIVE_INFINITY
  const progress = (phase: 'checking' | 'importing') => (bytes: number, records: number) => {
    stop.throwIfAborted()
    const now = performance.now()
    if (now - toldAt < PROGRESS_MS) return
    toldAt = now
    void emit({ type: 'progress', phase, bytes, records })
  }
  const checked = await checkInput(file, fields, store, progress('checking'), { isReplacement })
  if (checked.bad.size > 0) {
    for (const badLine of checked.bad.first) await emit({ type: 'badLine', ...badLine })
    await emit({ type: 'refused', badLines: checked.bad.size })
    return
  }
  const options = {
    fields,
    clock: Date.now,
    onProgress: progress('importing'),
    async onRejected({ number: line }: { readonly number: number }, reason: string) {
      await emit({ type: 'badLine', line, reason })
    },
    isDryRun,
    async onUser(swapped: Swapped) {
      stop.throwIfAborted()
      if (isVerbose) await emit({ type: 'user', ...swapped })
    },
  }
  const counts = isReplacement
    ? await replaceInput(file, checked, store, options)
    : await loadInput(file, checked, store, options)
  // Flushed even if this run removed nothing: an interrupted run may have removed rows, whose bytes are still in the
  // files.
  if (!isDryRun && checked.mayRemove) await flushRemovals(store, FLUSH_PATIENCE_MS)
  const { orphanExports, orphans } = checked
  await emit({ type: isDryRun ? 'wouldImport' : 'imported', ...counts, orphanExports, orphans })
}
