// Waits for what some values of a list still promise, and puts each in its place.

/**
 * What `make` makes of the values once none of them is a promise any more. A value that is rejected is replaced by what
 * `onRejected` makes of it. Rejects with the first failure in the order of the list. One of the values is a promise at least.
 */
export function settle<T, R>(
  values: (T | Promise<T> | Failed)[],
  onRejected: (thrown: unknown, index: number) => T,
  make: (settled: readonly T[]) => R,
): Promise<R> {
  const pending = values.flatMap((value, index) => (value instanceof Promise ? index : []))

  function replaceRejected(thrown: unknown, index: number): void {
    try {
      values[index] = onRejected(thrown, index)
    } catch (failure) {
      values[index] = new Failed(failure)
    }
  }

  function place<S>(index: number, next: () => S): Promise<S> {
    return (values[index] as Promise<T>).then(
      (value) => {
        values[index] = value
        return next()
      },
      (thrown: unknown) => {
        replaceRejected(thrown, index)
        return next()
      },
    )
  }

  const makeAll = () => make(settledValues(values))
  const [first] = pending
  // Most objects wait for one field: a promise more for each of them would show.
  if (first !== undefined && pending.length === 1) return place(first, makeAll)
  const { promise, resolve } = Promise.withResolvers<void>()
  let waitingFor = pending.length
  for (const index of pending) {
    void place(index, () => {
      waitingFor -= 1
      if (waitingFor === 0) resolve()
    })
  }
  return promise.then(makeAll)
}

/** Stands in the place of a value that cannot be had. */
export class Failed {
  readonly failure: unknown

  constructor(failure: unknown) {
    this.failure = failure
  }
}

/** The values once all are settled. Throws the first failure in the order of the list, whichever came first. */
export function settledValues<T>(values: readonly (T | Promise<T> | Failed)[]): readonly T[] {
  for (const value of values) if (value instanceof Failed) throw value.failure
  return values as readonly T[]
}
