// The store as commands other than serve open it.
import { openStore } from '../store/open-store.ts'
import type { Store } from '../store/store.ts'

interface CommandStoreConfig {
  readonly database: string
  readonly lockTimeout: number
}

/** A disk that fails ends the command: what it was writing is reported as failed. */
export function openCommandStore(config: CommandStoreConfig, mustExist = false): Promise<Store> {
  return openStore(config.database, { lockTimeoutMs: config.lockTimeout, mustExist, onFatal: () => {} })
}
