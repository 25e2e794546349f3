// The store as commands other than serve open it.
import { openStore } from '../store/open-store.ts'
import type { Store } from '../store/store.ts'

/** A disk that fails ends the command: what it was writing is reported as failed. */
export function openCommandStore({
  database,
  lockTimeout,
}: {
  readonly database: string
  readonly lockTimeout: number
}): Promise<Store> {
  return openStore(database, { lockTimeoutMs: lockTimeout, onFatal: () => {} })
}
