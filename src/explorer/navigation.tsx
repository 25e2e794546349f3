// Moving between pages without a reload, so that tokens can stay in memory.
import type { MouseEvent, ReactNode } from 'react'
import { useSyncExternalStore } from 'react'
import { useExplorer } from './use-explorer.ts'

const MOVED = 'explorer:moved'

export function navigate(url: string): void {
  history.pushState(null, '', url)
  dispatchEvent(new Event(MOVED))
  scrollTo(0, 0)
}

/** The address changes, the page does not notice. */
export function replaceAddress(url: string): void {
  history.replaceState(null, '', url)
}

/** The path under the base path, and the query, as one string. */
export function useAddress(): string {
  const { basePath } = useExplorer().facts
  return useSyncExternalStore(subscribe, () => location.pathname.slice(basePath.length) + location.search)
}

function subscribe(listener: () => void): () => void {
  addEventListener('popstate', listener)
  addEventListener(MOVED, listener)
  return () => {
    removeEventListener('popstate', listener)
    removeEventListener(MOVED, listener)
  }
}

interface LinkProps {
  readonly to: string
  readonly children: ReactNode
  readonly className?: string
  readonly isCurrent?: boolean
}

export function Link({ to, children, className, isCurrent = false }: LinkProps): ReactNode {
  const url = `${useExplorer().facts.basePath}${to}`
  function follow(event: MouseEvent): void {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button !== 0) return
    event.preventDefault()
    navigate(url)
  }
  return (
    <a href={url} onClick={follow} className={className} aria-current={isCurrent ? 'page' : undefined}>
      {children}
    </a>
  )
}
