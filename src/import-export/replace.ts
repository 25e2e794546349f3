// An import after which every user of the input has exactly what the input says, and nothing else.
import { randomUUID } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import type { Change, Store } from '../store/contract.ts'
import type { EditableStore, ReplacementStep, Swapped } from '../store/workspace-edits.ts'
import { PAUSE_MS } from './change-batch.ts'
import type { CheckedInput } from './checks/validate.ts'
import { type ApplyOptions, applyInput, type Counts } from './load.ts'

/** Others wait for the write lock no longer than one call takes, unless a single user takes longer. */
const TARGET_SWAP_MS = 30
const MIN_DOCUMENTS = 64
const MAX_DOCUMENTS = 8_192
/** Older than anything but what a replacement leaves behind. */
const LEFT_BEHIND = 1

export interface ReplaceOptions extends ApplyOptions {
  /** Only reports what would change, for each user. */
  readonly isDryRun: boolean
  /** As of `SwapQuestion`. */
  readonly keepsExports?: boolean
  readonly onUser: (swapped: Swapped) => void
}

/**
 * Everything is staged first, in short transactions that nobody sees anything of; then each user is swapped in one step.
 * The input has been checked as a replacement, and has no bad line. Nothing is removed before all of it is staged. A run
 * that is broken off leaves each user as before or as the input says; another run brings the rest.
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
    await applyInput(file, checked, stagingStore(store, replacement, options.clock), options)
    return await swapAll(store, replacement, options)
  } finally {
    await clear(store, replacement)
  }
}

/** Takes the steps of an import, and stages them. */
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
      onUser(user)
    }
    const last = swapped.at(-1)
    if (!last) return counts
    after = last.email
    await delay(PAUSE_MS)
  }
}

/** What is not cleared now, another import clears. */
async function clear(store: EditableStore, replacement: string): Promise<void> {
  try {
    await store.endReplacement(replacement)
    while (!(await store.dropStaleStages(LEFT_BEHIND))) await delay(PAUSE_MS)
  } catch {
    // Why the import itself failed is told by what it threw.
  }
}
