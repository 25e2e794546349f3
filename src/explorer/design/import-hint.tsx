// How to import a workspace, shown to users who have none yet.
import type { ReactNode } from 'react'

export function ImportHint(): ReactNode {
  return (
    <>
      <pre className="command">npx workspace-gateway import workspace.ndjson</pre>
      <p className="note">
        With the same <code>--database</code> as the gateway, if it has one. A line is{' '}
        <code>{'{"kind":"project","email":"…","data":{…}}'}</code>; the gateway may be serving meanwhile.
      </p>
    </>
  )
}
