// A line of waiters with a time limit. After one of them has waited in vain, nobody joins until the line moves again.
import { StoreUnavailableError } from '../../../contract.ts'

export interface WaitingLine<T> {
  /**
   * Waits to be served. Rejects with `StoreUnavailableError` after the time limit. Throws it while the line is stuck,
   * unless `isHopeful`: the caller is about to make it move.
   */
  readonly join: (isHopeful?: boolean) => Promise<T>
  /** Serves the longest waiter. Returns false if nobody waits. The line is no longer stuck. */
  readonly serve: (value: T) => boolean
  /** Rejects all but the `kept` longest waiters. */
  readonly refuse: (error: unknown, kept?: number) => void
  /** The line is no longer stuck: a waiter may be served soon. */
  readonly unblock: () => void
  readonly length: () => number
}

interface Waiter<T> {
  readonly resolve: (value: T) => void
  readonly reject: (error: unknown) => void
}

/** `tooLate` tells why a waiter was not served in time. */
export function createWaitingLine<T>(patienceMs: number, tooLate: string): WaitingLine<T> {
  let waiters: Waiter<T>[] = []
  let isStuck = false

  return {
    join(isHopeful = false) {
      if (isStuck && !isHopeful) throw new StoreUnavailableError(tooLate)
      const { promise, resolve, reject } = Promise.withResolvers<T>()
      const waiter = { resolve, reject }
      waiters.push(waiter)
      const timer = setTimeout(() => {
        isStuck = true
        waiters = waiters.filter((other) => other !== waiter)
        reject(new StoreUnavailableError(tooLate))
      }, patienceMs)
      return promise.finally(() => clearTimeout(timer))
    },
    serve(value) {
      isStuck = false
      const next = waiters.shift()
      next?.resolve(value)
      return next !== undefined
    },
    refuse(error, kept = 0) {
      for (const { reject } of waiters.splice(kept)) reject(error)
    },
    unblock() {
      isStuck = false
    },
    length: () => waiters.length,
  }
}
