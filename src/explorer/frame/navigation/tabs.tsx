// A row of tabs as links, one of which is current.
import { type ReactNode, useRef } from 'react'
import { Link } from './link.tsx'
import { SteadyLabel } from './steady-label.tsx'
import { useCurrentInSight } from './use-current-in-sight.ts'

interface TabsProps {
  readonly label: string
  readonly tabs: readonly { readonly to: string; readonly label: string; readonly count?: number }[]
  /** The address of the current tab. */
  readonly current: string
}

export function Tabs({ label, tabs, current }: TabsProps): ReactNode {
  const row = useRef<HTMLElement>(null)
  useCurrentInSight(
    row,
    tabs.findIndex(({ to }) => to === current),
  )
  return (
    <nav ref={row} className="tabs" aria-label={label}>
      {tabs.map(({ to, label: text, ...counted }) => (
        <Link key={to} to={to} isCurrent={to === current}>
          <SteadyLabel text={text} {...counted} />
        </Link>
      ))}
    </nav>
  )
}
