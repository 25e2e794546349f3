// After a command has removed data: waits until the bytes have left the database files, or says what is left to do.
import { flushRemovals } from '../import-export/flush-removals.ts'
import type { EditableStore } from '../store/workspace-edits.ts'
import type { CommandIo } from './io.ts'
import type { StoreConfig } from './options/database-options.ts'

/** Waits at most `lockTimeout` for readers of an older state, then writes to stderr what the operator should do. */
export async function flushAndTell(
  store: Pick<EditableStore, 'flushRemovals'>,
  { lockTimeout }: StoreConfig,
  { stderr }: CommandIo,
): Promise<void> {
  const flushed = await flushRemovals(store, lockTimeout)
  if (flushed === 'external')
    stderr.write('removed data leaves the files with the next checkpoint of the other program\n')
  if (flushed === 'inUse')
    stderr.write(
      'removed for all reads from now on; another process still reads an older state, so run vacuum later to remove the data from the files too\n',
    )
}
