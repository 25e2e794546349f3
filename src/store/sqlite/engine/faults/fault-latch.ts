// Latches the first fatal fault: from then on nothing is written and nothing is acknowledged.
import { reasonOf } from '../../../../errors.ts'
import { StoreUnavailableError } from '../../../contract.ts'
import { isOverQuota } from './over-quota.ts'
import { faultOf, isBusy, isFatal, toStoreError } from './sqlite-errors.ts'
import { toFaultError } from './startup-check.ts'

export interface FaultLatch {
  /**
   * Runs a database call and translates its errors to those of the contract. Latches a fatal fault and reports it once.
   */
  readonly guard: <T>(run: () => T) => T
  /** Does the same for a call that goes on after this turn of the event loop. */
  readonly guardAsync: <T>(running: Promise<T>) => Promise<T>
  /** Does the same for an error that was caught elsewhere, and returns the error to throw. */
  readonly toStoreError: (error: unknown) => unknown
  /**
   * Runs a check of the files, whose loss SQLite itself does not notice. Latches the error that it throws, unless that
   * is a `StoreUnavailableError`, which means an inconclusive check. Throws `StoreUnavailableError` in both cases.
   */
  readonly assertInPlace: (look: () => void) => void
  /** Calls `listener` for every transient fault except a held lock, and for every inconclusive check of the files. */
  readonly onUnavailable: (listener: () => void) => void
  /** Throws `StoreUnavailableError` once a fatal fault is latched. */
  readonly assertWritable: () => void
}

/** `onFatal` gets the original error. `path` is the file that messages for operators name. */
export function createFaultLatch(path: string, onFatal: (error: unknown) => void): FaultLatch {
  const listeners: (() => void)[] = []
  let fault: unknown = null

  function latch(error: unknown): void {
    if (fault !== null) return
    fault = error
    onFatal(error)
  }

  function tellUnavailable(): void {
    for (const listener of listeners) listener()
  }

  function translate(error: unknown): unknown {
    if (isOverQuota(error, path)) {
      tellUnavailable()
      return new StoreUnavailableError('the quota of the disk of the database is used up', { cause: error })
    }
    if (isFatal(error)) latch(error)
    else if (faultOf(error) !== null && !isBusy(error)) tellUnavailable()
    return toFaultError(toStoreError(error), path)
  }

  return {
    guard(run) {
      try {
        return run()
      } catch (error) {
        throw translate(error)
      }
    },
    async guardAsync(running) {
      try {
        return await running
      } catch (error) {
        throw translate(error)
      }
    },
    toStoreError: translate,
    assertInPlace(look) {
      try {
        look()
      } catch (error) {
        if (error instanceof StoreUnavailableError) {
          tellUnavailable()
          throw error
        }
        latch(error)
        throw new StoreUnavailableError(`the files of the database are gone: ${reasonOf(error)}`, { cause: error })
      }
    },
    onUnavailable(listener) {
      listeners.push(listener)
    },
    assertWritable() {
      if (fault !== null)
        throw new StoreUnavailableError('the database failed: no more writes are accepted', { cause: fault })
    },
  }
}
