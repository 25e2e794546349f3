// Settles the slots of an object or a list: waits for the pending ones and replaces each by its result.

/**
 * A promise, and the function that completes its result. `settle` calls `complete` itself, which saves the promise that
 * `then` would create: with one more promise per field, a nested query took a tenth longer. Pass it to `settle` in the
 * same turn, because until then nothing handles a rejection.
 */
export class Deferred<T> {
  readonly promise: Promise<unknown>
  readonly complete: (answer: unknown) => T | Promise<T>

  constructor(promise: Promise<unknown>, complete: (answer: unknown) => T | Promise<T>) {
    this.promise = promise
    this.complete = complete
  }
}

export type Pending<T> = Promise<T> | Deferred<T>

export function isPending<T>(value: T | Pending<T>): value is Pending<T> {
  return value instanceof Promise || value instanceof Deferred
}

/** A thrown failure, stored in place of the value. */
export class Failed {
  readonly failure: unknown

  constructor(failure: unknown) {
    this.failure = failure
  }
}

/** A field of an object or an item of a list: it has its value, or waits for it, or has failed and cannot be null. */
export type Slot<T> = T | Pending<T> | Failed

/** The result of `replace`, or what it throws: that waits until the slots before it have settled. */
export function orFailed<T>(replace: () => T): T | Failed {
  try {
    return replace()
  } catch (failure) {
    return new Failed(failure)
  }
}

type OnRejected<T> = (thrown: unknown, index: number) => T

/**
 * Waits until no slot is pending, then resolves with the result of `combine`. A value that rejects is replaced by the
 * result of `onRejected`. If `onRejected` throws, the returned promise rejects with the first such failure in list
 * order, not in time. At least one slot must be pending.
 */
export function settle<T, R>(
  values: Slot<T>[],
  onRejected: OnRejected<T>,
  combine: (settled: readonly T[]) => R,
): Promise<R> {
  let waitingFor = 0
  let last = 0
  for (let index = 0; index < values.length; index += 1) {
    if (!isPending(values[index])) continue
    waitingFor += 1
    last = index
  }
  // Most objects wait for a single field. One more promise for each of them is measurable.
  if (waitingFor === 1) return settleOne(values, last, onRejected, () => combine(settledValues(values)))
  const { promise, resolve } = Promise.withResolvers<void>()
  function countDown(): void {
    waitingFor -= 1
    if (waitingFor === 0) resolve()
  }
  for (let index = 0; index <= last; index += 1) {
    if (isPending(values[index])) void settleOne(values, index, onRejected, countDown)
  }
  return promise.then(() => combine(settledValues(values)))
}

/** Waits for one value, stores its result at its index, and resolves with the result of `next`. */
function settleOne<T, R>(values: Slot<T>[], index: number, onRejected: OnRejected<T>, next: () => R): Promise<R> {
  const value = values[index]
  const promise = value instanceof Deferred ? value.promise : value
  return (promise as Promise<unknown>).then(
    (answer) => {
      try {
        values[index] = value instanceof Deferred ? value.complete(answer) : (answer as T)
      } catch (thrown) {
        values[index] = orFailed(() => onRejected(thrown, index))
      }
      return values[index] instanceof Promise ? settleOne(values, index, onRejected, next) : next()
    },
    (thrown: unknown) => {
      values[index] = orFailed(() => onRejected(thrown, index))
      return next()
    },
  )
}

/** The values, none of which may be pending. Throws the first failure in list order. */
export function settledValues<T>(values: readonly Slot<T>[]): readonly T[] {
  for (const value of values) if (value instanceof Failed) throw value.failure
  return values as readonly T[]
}
