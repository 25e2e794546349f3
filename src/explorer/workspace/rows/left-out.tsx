// At the end of a list on paper: how many rows are not there.
import type { ReactNode } from 'react'

export function LeftOut({ count }: { readonly count: number }): ReactNode {
  if (count === 0) return null
  return (
    <p>
      <strong>
        Cut here: {count.toLocaleString()} more {count === 1 ? 'row is' : 'rows are'} not printed. A search makes the
        list shorter.
      </strong>
    </p>
  )
}
