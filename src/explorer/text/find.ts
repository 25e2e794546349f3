// Finds words in a whole text, including the rows that are not rendered.

/** The search stops at this number of matches. */
export const MOST_MATCHES = 10_000

export interface Found {
  /** Start offset of each match. */
  readonly offsets: readonly number[]
  readonly length: number
}

/** Lower-cases a text without moving any character: the lower case of `İ` alone would be two characters long. */
export function withoutCase(text: string): string {
  return text.replace(/[^İ]+/g, (part) => part.toLowerCase())
}

/** Case-insensitive search; `lowerText` is the result of `withoutCase`. */
export function findAll(lowerText: string, words: string): Found {
  const wanted = withoutCase(words)
  const offsets: number[] = []
  if (wanted === '') return { offsets, length: 0 }
  for (let at = lowerText.indexOf(wanted); at !== -1; at = lowerText.indexOf(wanted, at + wanted.length)) {
    offsets.push(at)
    if (offsets.length === MOST_MATCHES) break
  }
  return { offsets, length: wanted.length }
}

/** Binary search: the index of the first number that is at least `least`, in an ascending list; `length` if none is. */
export function firstAtLeast(length: number, at: (index: number) => number, least: number): number {
  let [low, high] = [0, length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (at(middle) < least) low = middle + 1
    else high = middle
  }
  return low
}
