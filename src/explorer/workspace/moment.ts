// Parses the times of exports, which the gateway keeps as they were imported.

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
