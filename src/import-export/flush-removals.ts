// Erases removed data from the files of the database as well.
import { setTimeout as delay } from 'node:timers/promises'
import type { EditableStore } from '../store/workspace-edits.ts'

const RETRY_MS = 20

/** Waits at most `patienceMs` milliseconds for readers of an older state. Returns the store's last result. */
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
