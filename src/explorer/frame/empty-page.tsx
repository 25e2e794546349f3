// The "not found" page, with links to the main pages.
import { Compass } from 'lucide-react'
import type { ReactNode } from 'react'
import { EmptyState } from '../design/empty-state.tsx'
import { Link } from './navigation/link.tsx'

export function EmptyPage(): ReactNode {
  return (
    <EmptyState Icon={Compass} title="There is no page at this address" isPage>
      <p>
        Go to the <Link to="/">first page</Link>, the <Link to="/workspace">workspace</Link> or the{' '}
        <Link to="/docs">reference</Link>.
      </p>
    </EmptyState>
  )
}
