// The placeholder of an empty list or page: it says what belongs there and how to add it.
import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'

interface EmptyStateProps {
  readonly Icon: LucideIcon
  readonly title: string
  /** Whether there is nothing else on the page, so that its title is the heading of the page. */
  readonly isPage?: boolean
  readonly children?: ReactNode
}

export function EmptyState({ Icon, title, isPage = false, children }: EmptyStateProps): ReactNode {
  const Heading = isPage ? 'h1' : 'h2'
  return (
    <div className="empty">
      <Icon size={28} aria-hidden="true" />
      <Heading>{title}</Heading>
      {children}
    </div>
  )
}
