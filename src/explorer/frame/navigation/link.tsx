// A link to another page of the explorer: a real `href`, followed without a reload.
import type { MouseEvent, ReactNode } from 'react'
import { useExplorer } from '../use-explorer.ts'

interface LinkProps {
  readonly to: string
  readonly children: ReactNode
  readonly className?: string
  readonly isCurrent?: boolean
  /** For rows of a list in which only one row is a tab stop (roving tabindex). */
  readonly tabIndex?: 0 | -1
  readonly onFollow?: () => void
}

export function Link({ to, children, className, isCurrent = false, tabIndex, onFollow }: LinkProps): ReactNode {
  const { facts, navigation } = useExplorer()
  function follow(event: MouseEvent): void {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button !== 0) return
    event.preventDefault()
    navigation.go(to)
    onFollow?.()
  }
  return (
    <a
      href={facts.basePath + to}
      onClick={follow}
      className={className}
      aria-current={isCurrent ? 'page' : undefined}
      tabIndex={tabIndex}
    >
      {children}
    </a>
  )
}
