// Waits for what some values of a list still promise, and puts each in its place.

/**
 * Resolves once no value of the list is a promise any more. A value that is rejected is replaced by what `onRejected` makes
 * of it; when that throws, by `Failed`.
 */
export function settle<T>(
  values: (T | Promise<T> | Failed)[],
  onRejected: (thrown: unknown, index: number) => T,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let pending = 0
  values.forEach((value, index) => {
    if (!(value instanceof Promise)) return
    pending += 1
    const place = (settled: T | Failed) => {
      values[index] = settled
      pending -= 1
      if (pending === 0) resolve()
    }
    value.then(place, (thrown: unknown) => {
      try {
        place(onRejected(thrown, index))
      } catch (failure) {
        place(new Failed(failure))
      }
    })
  })
  if (pending === 0) resolve()
  return promise
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
