// Finds words in a whole text, including the rows that are not rendered.

/** The search stops at this number of matches. */
export const MOST_MATCHES = 10_000

/** The matches, in ascending order; they do not overlap. */
export interface Found {
  /** Start offset of each match. */
  readonly offsets: readonly number[]
  /** End offset of each match. */
  readonly ends: readonly number[]
}

/** Lower-cases a text without moving any character: the lower case of `İ` alone would be two characters long. */
export function withoutCase(text: string): string {
  return text.replace(/[^İ]+/g, (part) => part.toLowerCase())
}

/**
 * Case-insensitive search; `lowerText` is the result of `withoutCase`. A letter such as é may be stored as one character
 * or as two: both are found. The text is not normalized, because that would move its characters.
 */
export function findAll(lowerText: string, words: string): Found {
  const [offsets, ends]: [number[], number[]] = [[], []]
  if (words === '') return { offsets, ends }
  const forms = new Set([words, words.normalize('NFC'), words.normalize('NFD')].map(withoutCase))
  let nexts = [...forms].map((form) => ({ form, at: lowerText.indexOf(form) })).filter(({ at }) => at !== -1)
  while (nexts.length > 0 && offsets.length < MOST_MATCHES) {
    const { form, at } = nexts.reduce((one, other) => (other.at < one.at ? other : one))
    const end = at + form.length
    offsets.push(at)
    ends.push(end)
    for (const next of nexts) if (next.at < end) next.at = lowerText.indexOf(next.form, end)
    nexts = nexts.filter((next) => next.at !== -1)
  }
  return { offsets, ends }
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
