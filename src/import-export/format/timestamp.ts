// Moments in time as text that sorts in their order.

const RFC3339 =
  /^(?<date>\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))[Tt ](?<time>(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60))(?:\.(?<fraction>\d{1,9})\d*)?(?<zone>[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/**
 * An RFC 3339 date and time in UTC with nine digits of fraction (finer ones are cut off), so that the order of the texts
 * is the order of the moments. Null for what is not one, or not a day of the calendar.
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
