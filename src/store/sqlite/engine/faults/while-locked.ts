// Retries an operation while another process holds a lock on the database.
import { setTimeout as delay } from 'node:timers/promises'
import { StoreUnavailableError } from '../../../contract.ts'
import { isBusy } from './sqlite-errors.ts'

const LOCK_RETRY_MS = 5

/** Throws `StoreUnavailableError` after `timeoutMs`. Rethrows every error other than a held lock. */
export async function whileLocked<T>(timeoutMs: number, run: () => T): Promise<T> {
  const start = performance.now()
  for (;;) {
    try {
      return run()
    } catch (error) {
      if (!isBusy(error)) throw error
      if (performance.now() - start > timeoutMs) {
        throw new StoreUnavailableError('another process holds the database locked', { cause: error })
      }
      await delay(LOCK_RETRY_MS)
    }
  }
}
