// Reads times as they were imported, and writes them as dates or relative to now.

const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

/**
 * Milliseconds since the epoch, or NaN for an invalid date. A leap second, which `Date` does not know, becomes the
 * second before it.
 */
export function momentOf(dateTime: string): number {
  return Date.parse(dateTime.replace(/:60(?=[.Z+-]|$)/i, ':59'))
}

/** The exact date and time, as the reader's locale writes them. */
export function exactDate(dateTime: string): string {
  return new Date(momentOf(dateTime)).toLocaleString()
}

/**
 * Rounded to the unit that fits, such as "3 days ago". `at` and `now` are in milliseconds since the epoch.
 */
export function relativeText(at: number, now: number): string {
  const seconds = Math.round((at - now) / 1_000)
  // A time that rounds up to one larger unit is given in that unit: "1 hour", not "60 minutes".
  const reaches = (size: number, smaller = 1): boolean => Math.abs(seconds) >= size - smaller / 2
  const [unit, length] = UNITS.find(([, size], index) => reaches(size, UNITS[index + 1]?.[1])) ?? ['second', 1]
  // Always English, like the sentences around it.
  return new Intl.RelativeTimeFormat('en', { numeric: 'auto' }).format(Math.round(seconds / length), unit)
}
