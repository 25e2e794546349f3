// Combines the figures of several rounds.

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** The median of each field. */
export function medianOf<T extends { readonly [F in keyof T]: number }>(rounds: readonly T[]): T {
  const fields = Object.keys(rounds[0] ?? {}) as (keyof T)[]
  return Object.fromEntries(fields.map((field) => [field, median(rounds.map((round) => round[field]))])) as T
}

/** The median of the ratios of each round. A drift in the machine's speed affects both sides of a round alike. */
export function medianRatio(ours: readonly number[], theirs: readonly number[]): number {
  return median(ours.map((one, round) => one / (theirs[round] ?? Number.NaN)))
}
