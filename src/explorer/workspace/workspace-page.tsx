// The workspace page.
import type { ReactNode } from 'react'

export function WorkspacePage(): ReactNode {
  return <p className="pad">Soon.</p>
}
