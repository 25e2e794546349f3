// A date as people say it, with the exact one at hand.
import type { ReactNode } from 'react'

const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

/** What is not a date is shown as it is written. */
export function When({ at }: { readonly at: string }): ReactNode {
  const date = new Date(at)
  if (at === '' || Number.isNaN(date.getTime())) return at
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()}>
      {relativeText(date.getTime(), Date.now())}
    </time>
  )
}

/** Both in milliseconds since the epoch. */
export function relativeText(at: number, now: number): string {
  const seconds = Math.round((at - now) / 1_000)
  const [unit, length] = UNITS.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1]
  return new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' }).format(Math.trunc(seconds / length), unit)
}
