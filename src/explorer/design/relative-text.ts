// How far away a time is, as people say it: to the nearest of the unit that fits.

const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

/** Both in milliseconds since the epoch. */
export function relativeText(at: number, now: number): string {
  const seconds = Math.round((at - now) / 1_000)
  // What rounds up to a whole larger unit is said in that one: an hour, not 60 minutes.
  const reaches = (size: number, smaller = 1): boolean => Math.abs(seconds) >= size - smaller / 2
  const [unit, length] = UNITS.find(([, size], index) => reaches(size, UNITS[index + 1]?.[1])) ?? ['second', 1]
  // As the sentences that it stands in, whatever the reader's language is.
  return new Intl.RelativeTimeFormat('en', { numeric: 'auto' }).format(Math.round(seconds / length), unit)
}
