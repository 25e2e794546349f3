// Waits for what some values of a list still promise, and puts each in its place.

/**
 * What is to be made of somebody's promise: where it is waited for anyway, it needs no promise of its own. With one for each
 * field a nested query took a tenth longer. To be settled in the turn in which it is made: until then nobody handles a rejection.
 */
export class Deferred<T> {
  readonly promise: Promise<unknown>
  readonly make: (answer: unknown) => T | Promise<T>

  constructor(promise: Promise<unknown>, make: (answer: unknown) => T | Promise<T>) {
    this.promise = promise
    this.make = make
  }
}

export type Pending<T> = Promise<T> | Deferred<T>

export function isPending<T>(value: T | Pending<T>): value is Pending<T> {
  return value instanceof Promise || value instanceof Deferred
}

type OnRejected<T> = (thrown: unknown, index: number) => T

/**
 * What `make` makes of the values once none of them is pending any more. A value that is rejected is replaced by what
 * `onRejected` makes of it. Rejects with the first failure in the order of the list. One of the values is pending at least.
 */
export function settle<T, R>(
  values: (T | Pending<T> | Failed)[],
  onRejected: OnRejected<T>,
  make: (settled: readonly T[]) => R,
): Promise<R> {
  let waitingFor = 0
  let last = 0
  for (let index = 0; index < values.length; index += 1) {
    if (!isPending(values[index])) continue
    waitingFor += 1
    last = index
  }
  // Most objects wait for one field: a promise more for each of them would show.
  if (waitingFor === 1) return place(values, last, onRejected, () => make(settledValues(values)))
  const { promise, resolve } = Promise.withResolvers<void>()
  function countDown(): void {
    waitingFor -= 1
    if (waitingFor === 0) resolve()
  }
  for (let index = 0; index <= last; index += 1) {
    if (isPending(values[index])) void place(values, index, onRejected, countDown)
  }
  return promise.then(() => make(settledValues(values)))
}

/** Answers what `next` does, once the value is in its place. */
function place<T, R>(
  values: (T | Pending<T> | Failed)[],
  index: number,
  onRejected: OnRejected<T>,
  next: () => R,
): Promise<R> {
  const value = values[index]
  const promise = value instanceof Deferred ? value.promise : value
  return (promise as Promise<unknown>).then(
    (answer) => {
      try {
        values[index] = value instanceof Deferred ? value.make(answer) : (answer as T)
      } catch (thrown) {
        values[index] = replacement(onRejected, thrown, index)
      }
      return values[index] instanceof Promise ? place(values, index, onRejected, next) : next()
    },
    (thrown: unknown) => {
      values[index] = replacement(onRejected, thrown, index)
      return next()
    },
  )
}

function replacement<T>(onRejected: OnRejected<T>, thrown: unknown, index: number): T | Failed {
  try {
    return onRejected(thrown, index)
  } catch (failure) {
    return new Failed(failure)
  }
}

/** Stands in the place of a value that cannot be had. */
export class Failed {
  readonly failure: unknown

  constructor(failure: unknown) {
    this.failure = failure
  }
}

/** The values once all are settled. Throws the first failure in the order of the list, whichever came first. */
export function settledValues<T>(values: readonly (T | Pending<T> | Failed)[]): readonly T[] {
  for (const value of values) if (value instanceof Failed) throw value.failure
  return values as readonly T[]
}
