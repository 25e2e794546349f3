// The first steps in the demo: three links to live examples. Once dismissed, they never appear again.
import { X } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { browserStorage } from '../design/browser-storage.ts'
import { IconButton } from '../design/icon-button.tsx'
import { Link } from '../frame/navigation/link.tsx'

const KEY = 'workspace-gateway:first-steps'
const KEPT = browserStorage(() => localStorage)

export function FirstSteps(): ReactNode {
  const [isDone, setDone] = useState(() => KEPT.getItem(KEY) !== null)
  if (isDone) return null
  function dismiss(): void {
    KEPT.setItem(KEY, 'done')
    setDone(true)
    // The pressed button disappears with the steps.
    document.getElementById('main')?.focus({ preventScroll: true })
  }
  return (
    <aside className="first-steps" aria-label="First steps">
      <p>
        <strong>You are in the demo workspace.</strong> In a minute:
      </p>
      <ol>
        <li>
          <Link to="/?route=GET+%2Fexports">Compare an export</Link> over REST and GraphQL
        </li>
        <li>
          <Link to="/workspace">Open a project</Link> and read its files
        </li>
        <li>
          <Link to="/graphql">Write a query</Link> of your own
        </li>
      </ol>
      <IconButton icon={X} onClick={dismiss} title="Dismiss" />
    </aside>
  )
}
