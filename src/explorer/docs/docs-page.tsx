// The docs page.
import type { ReactNode } from 'react'

export function DocsPage(): ReactNode {
  return <p className="pad">Soon.</p>
}
