// Imports with replacement: afterwards each user of the input has exactly what the input contains.
import { randomUUID } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Awaitable } from '../store/awaitable.ts'
import type { Change, Store } from '../store/contract.ts'
import type { EditableStore, ReplacementStep, Swapped } from '../store/workspace-edits.ts'
import { PAUSE_MS } from './change-batch.ts'
import type { CheckedInput } from './checks/validate.ts'
import { type Counts, type LoadOptions, loadInput } from './load.ts'

/** Target duration of one swap call: others wait for the write lock that long, or longer for a single large user. */
const TARGET_SWAP_MS = 30
const MIN_DOCUMENTS = 64
const MAX_DOCUMENTS = 8_192
/** Only the leftovers of a replacement are older than this timestamp (milliseconds since the epoch). */
const LEFT_BEHIND = 1

export interface ReplaceOptions extends LoadOptions {
  /** Only reports what would change, for each user. */
  readonly isDryRun: boolean
  /** See `SwapQuestion`. */
  readonly keepsExports?: boolean
  /** Waited for before anything else is swapped in. */
  readonly onUser: (swapped: Swapped) => Awaitable<void>
}

/**
 * Stages everything first, in short transactions that no reader sees, then swaps in each user in one transaction. The
 * input must have been checked as a replacement and have no bad line. Nothing is removed before everything is staged.
 * An interrupted run leaves each user either as before or as in the input; another run completes it.
 */
export async function replaceInput(
  file: FileHandle,
  checked: CheckedInput,
  store: EditableStore,
  options: ReplaceOptions,
): Promise<Counts> {
  const replacement = randomUUID()
  await store.beginReplacement(replacement, options.clock())
  try {
    await loadInput(file, checked, stagingStore(store, replacement, options.clock), options)
    return await swapAll(store, replacement, options)
  } finally {
    await clear(store, replacement)
  }
}

/** A store that stages the steps of an import instead of applying them. */
function stagingStore(
  store: EditableStore,
  replacement: string,
  clock: () => number,
): Pick<Store, 'applyChanges' | 'dropStaleStages'> {
  return {
    async applyChanges(changes) {
      await store.stageReplacement(replacement, changes.map(toStep), clock())
      return changes.map(() => 'staged')
    },
    dropStaleStages: (before) => store.dropStaleStages(before),
  }
}

function toStep(change: Change): ReplacementStep {
  if (change.type === 'putDocument') return { ...change, type: 'stageDocument' }
  if (change.type === 'addUser') return { ...change, type: 'stageUser' }
  if (change.type === 'stageExport' || change.type === 'stageElements' || change.type === 'sealExport') return change
  throw new Error(`a replacement has no step ${change.type}`)
}

async function swapAll(
  store: EditableStore,
  replacement: string,
  { isDryRun, keepsExports, clock, onUser }: ReplaceOptions,
): Promise<Counts> {
  const counts = { added: 0, replaced: 0, unchanged: 0, removed: 0 }
  let maxDocuments = MIN_DOCUMENTS
  for (let after = ''; ; ) {
    const start = performance.now()
    const swapped = await store.swapReplacement({
      replacement,
      after,
      maxDocuments,
      isDryRun,
      keepsExports,
      now: clock(),
    })
    const isShort = performance.now() - start < TARGET_SWAP_MS
    maxDocuments = Math.min(MAX_DOCUMENTS, Math.max(MIN_DOCUMENTS, maxDocuments * (isShort ? 2 : 0.5)))
    for (const user of swapped) {
      counts.added += user.added
      counts.replaced += user.replaced
      counts.unchanged += user.unchanged
      counts.removed += user.removed
      await onUser(user)
    }
    const last = swapped.at(-1)
    if (!last) return counts
    after = last.email
    await delay(PAUSE_MS)
  }
}

/** Drops the leftovers. Whatever remains is dropped by another import. */
async function clear(store: EditableStore, replacement: string): Promise<void> {
  try {
    await store.endReplacement(replacement)
    while (!(await store.dropStaleStages(LEFT_BEHIND))) await delay(PAUSE_MS)
  } catch {
    // Ignored, so that the error of the import itself reaches the caller.
  }
}
