// The placeholder for content that is still loading.
import type { ReactNode } from 'react'

const BONES = ['one', 'two', 'three', 'four'] as const

export function Skeleton({ label }: { readonly label: string }): ReactNode {
  return (
    <div className="skeleton" role="status">
      <span className="unseen">{label} …</span>
      {BONES.map((bone) => (
        <span key={bone} className="bone" aria-hidden="true" />
      ))}
    </div>
  )
}
