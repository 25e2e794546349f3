// After a removal: what was removed leaves the files of the database too.
import { setTimeout as delay } from 'node:timers/promises'
import type { EditableStore } from '../store/workspace-edits.ts'
import type { CommandIo } from './io.ts'
import type { StoreConfig } from './options/database-options.ts'

const RETRY_MS = 20

/** Waits for readers of an older state as long as for a lock, then says what that means. */
export async function flushRemovals(
  store: Pick<EditableStore, 'flushRemovals'>,
  { lockTimeout }: StoreConfig,
  { stderr }: CommandIo,
): Promise<void> {
  const giveUpAt = performance.now() + lockTimeout
  for (;;) {
    const flushed = await store.flushRemovals()
    if (flushed === 'external')
      stderr.write('what was removed leaves the files with the next checkpoint of the other program\n')
    if (flushed !== 'inUse') return
    if (performance.now() > giveUpAt) {
      stderr.write(
        'removed for whoever reads from now on; somebody still reads an older state, so run vacuum later to have it leave the files too\n',
      )
      return
    }
    await delay(RETRY_MS)
  }
}
