// The store as commands open it.
import type { StoreConfig } from '../config.ts'
import type { MovableStore } from '../store/moving.ts'
import { openStore, type StoreOptions } from '../store/open-store.ts'

export interface CommandStoreConfig extends StoreConfig {
  readonly database: string
}

/** A disk that fails ends the command: what it was writing is reported as failed. */
export function openCommandStore(config: CommandStoreConfig, mustExist = false): Promise<MovableStore> {
  return openStore(config.database, { ...toStoreOptions(config), mustExist })
}

export function toStoreOptions(config: StoreConfig): StoreOptions {
  return {
    lockTimeoutMs: config.lockTimeout,
    connectTimeoutMs: config.connectTimeout,
    statementTimeoutMs: config.statementTimeout,
    poolSize: config.poolSize,
    onFatal: () => {},
  }
}
