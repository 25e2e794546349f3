// The placeholder of an empty list or page: it says what belongs there and how to add it.
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
