// A place with nothing in it: what belongs there, and how it gets there.
import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'

interface EmptyStateProps {
  readonly Icon: LucideIcon
  readonly title: string
  readonly children?: ReactNode
}

export function EmptyState({ Icon, title, children }: EmptyStateProps): ReactNode {
  return (
    <div className="empty">
      <Icon size={28} aria-hidden="true" />
      <h2>{title}</h2>
      {children}
    </div>
  )
}
