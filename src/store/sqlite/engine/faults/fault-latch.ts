// Remembers a fatal fault: from then on nothing is written any more, and nothing is acknowledged.
import { StoreUnavailableError } from '../../../contract.ts'
import { faultOf, isBusy, isFatal, toStoreError } from './sqlite-errors.ts'
import { toFaultError } from './startup-check.ts'

export interface FaultLatch {
  /** Runs what asks the database. What it throws is in the contract's words; a fatal fault is latched and reported once. */
  readonly guard: <T>(run: () => T) => T
  /** The same for an error that was caught elsewhere: answers what to throw. */
  readonly toStoreError: (error: unknown) => unknown
  /**
   * Runs a look at the files, whose loss SQLite itself does not notice. Latches what it throws, unless it could only not tell.
   * Throws `StoreUnavailableError` in both cases.
   */
  readonly assertInPlace: (look: () => void) => void
  /** Calls `listener` with every fault that may pass, a lock that is held excepted. */
  readonly onUnavailable: (listener: () => void) => void
  /** Throws once a fatal fault was latched. */
  readonly assertWritable: () => void
}

/** `onFatal` is told the fault as SQLite has it. `path` is the file that sentences for operators name. */
export function createFaultLatch(path: string, onFatal: (error: unknown) => void): FaultLatch {
  const listeners: (() => void)[] = []
  let fault: unknown = null

  function latch(error: unknown): void {
    if (fault !== null) return
    fault = error
    onFatal(error)
  }

  function translate(error: unknown): unknown {
    if (isFatal(error)) latch(error)
    else if (faultOf(error) !== null && !isBusy(error)) for (const listener of listeners) listener()
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
    toStoreError: translate,
    assertInPlace(look) {
      try {
        look()
      } catch (error) {
        if (error instanceof StoreUnavailableError) throw error
        latch(error)
        throw new StoreUnavailableError('the files of the database are gone', { cause: error })
      }
    },
    onUnavailable(listener) {
      listeners.push(listener)
    },
    assertWritable() {
      if (fault !== null)
        throw new StoreUnavailableError('the database failed: nothing is written any more', { cause: fault })
    },
  }
}
