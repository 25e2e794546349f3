// Finding words in a whole text, drawn or not.

/** More are counted, not kept. */
export const MOST_MATCHES = 10_000

export interface Found {
  /** Where each match begins. */
  readonly offsets: readonly number[]
  readonly length: number
}

/** In lower case, with every character at its place: that of `İ` alone would be two. */
export function withoutCase(text: string): string {
  return text.replace(/[^İ]+/g, (part) => part.toLowerCase())
}

/** Upper and lower case are the same; `lowerText` is without it. */
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

/** The index of the first number that is not below `least`, in a list in ascending order. */
export function firstAtLeast(length: number, at: (index: number) => number, least: number): number {
  let [low, high] = [0, length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (at(middle) < least) low = middle + 1
    else high = middle
  }
  return low
}
