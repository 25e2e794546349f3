// After a removal: what was removed leaves the files of the database too.
import { setTimeout as delay } from 'node:timers/promises'
import type { EditableStore } from '../store/workspace-edits.ts'

const RETRY_MS = 20

/** Waits for readers of an older state for so long, in milliseconds. Answers as the store does in the end. */
export async function flushRemovals(
  store: Pick<EditableStore, 'flushRemovals'>,
  patienceMs: number,
): Promise<'flushed' | 'inUse' | 'external'> {
  const giveUpAt = performance.now() + patienceMs
  for (;;) {
    const flushed = await store.flushRemovals()
    if (flushed !== 'inUse' || performance.now() > giveUpAt) return flushed
    await delay(RETRY_MS)
  }
}
