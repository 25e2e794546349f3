// The keyboard hint of a list, shown while the list has the focus: Tab stops at only one of its rows.
import type { ReactNode } from 'react'

export function RowKeysHint(): ReactNode {
  return <p className="row-keys-hint note">Arrow keys go from row to row.</p>
}
