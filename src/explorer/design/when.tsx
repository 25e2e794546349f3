// A date as people say it, with the exact one at hand.
import type { ReactNode } from 'react'
import { relativeText } from './relative-text.ts'

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
