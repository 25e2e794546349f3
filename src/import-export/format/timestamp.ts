// Converts timestamps to text that sorts chronologically.

const RFC3339 =
  /^(?<date>\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))[Tt ](?<time>(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60))(?:\.(?<fraction>\d{1,9})\d*)?(?<zone>[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/**
 * Converts an RFC 3339 date and time to UTC with nine fractional digits (further digits are cut off), so that the texts
 * sort chronologically. Null for another format or a date that does not exist.
 */
export function toSortableUtc(dateTime: string): string | null {
  const parts = RFC3339.exec(dateTime)?.groups
  if (!parts) return null
  const { date = '', time = '', fraction = '', zone = '' } = parts
  // A leap second sorts as the last moment of its minute.
  const leap = time.endsWith(':60')
  const clock = leap ? `${time.slice(0, -2)}59` : time
  const utc = new Date(`${date}T${clock}${zone.toUpperCase()}`)
  if (Number.isNaN(utc.getTime()) || !isDay(date)) return null
  const year = utc.getUTCFullYear()
  if (year < 0 || year > 9_999) return null
  return `${utc.toISOString().slice(0, -'.000Z'.length)}.${leap ? '999999999' : fraction.padEnd(9, '0')}Z`
}

function isDay(date: string): boolean {
  const midnight = new Date(`${date}T00:00:00Z`)
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(date)
}
