// A relative date with the exact date as its tooltip.
import type { ReactNode } from 'react'
import { momentOf, relativeText } from './moment.ts'

/** Shows `at` unchanged if it is not a date. */
export function When({ at }: { readonly at: string }): ReactNode {
  const date = new Date(momentOf(at))
  if (at === '' || Number.isNaN(date.getTime())) return at
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()}>
      {relativeText(date.getTime(), Date.now())}
    </time>
  )
}
