// The note at the end of a printed list that says how many rows are missing.
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
