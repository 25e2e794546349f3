// Opens a SQLite store, in a file of its own unless the test names one.
import { join } from 'node:path'
import type { MigratableStore } from '../../src/store/cutover/contract.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { temporaryDirectory } from './temporary-directory.ts'

/** A disk or a file that fails, fails the test. */
export function openTestStore(path = join(temporaryDirectory(), 'store.db')): Promise<MigratableStore> {
  return openSqliteStore(path, {
    lockTimeoutMs: 5_000,
    onFatal(error) {
      throw error
    },
  })
}
