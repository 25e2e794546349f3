// Says how a list is gone through by keys, while it has the focus: Tab stops at one row of it.
import type { ReactNode } from 'react'

export function RowKeysHint(): ReactNode {
  return <p className="row-keys-hint note">Arrow keys go from row to row.</p>
}
