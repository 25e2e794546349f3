// The workspace as a person wants to see it: lists to search, and what is in them.
import { type ReactNode, useCallback, useMemo } from 'react'
import { Link, useAddress } from '../navigation.tsx'
import { useExplorer, useSessionState } from '../use-explorer.ts'
import { useLoaded } from '../use-loaded.ts'
import { addressOf } from './addresses.ts'
import { DocumentView } from './document-view.tsx'
import { ItemList } from './item-list.tsx'
import { KIND_LABELS, KINDS, loadWorkspace, type Workspace } from './items.ts'
import { ProjectView } from './project-view.tsx'
import './workspace.css'

export function WorkspacePage(): ReactNode {
  const { session } = useExplorer()
  const loaded = useLoaded(useCallback(() => loadWorkspace(session), [session]))
  if (loaded.phase === 'loading') return <p className="note pad">Loading …</p>
  if (loaded.phase === 'failed') return <p role="alert">{loaded.message}</p>
  return loaded.value ? <Content workspace={loaded.value} /> : <NoWorkspace />
}

function Content({ workspace }: { readonly workspace: Workspace }): ReactNode {
  const address = useAddress()
  const shown = useMemo(() => new URLSearchParams(address.split('?')[1]), [address])
  const kind = KINDS.find((name) => name === shown.get('show')) ?? 'projects'
  const opened = shown.get('open')
  return (
    <div className="workspace">
      <h1>Workspace</h1>
      <nav className="kinds" aria-label="Kinds">
        {KINDS.map((name) => (
          <Link key={name} to={addressOf(name)} isCurrent={name === kind}>
            {KIND_LABELS[name]} <span className="count">{workspace[name].length.toLocaleString()}</span>
          </Link>
        ))}
      </nav>
      {opened === null ? (
        <ItemList key={kind} items={workspace[kind]} kind={kind} />
      ) : (
        <>
          <p>
            <Link to={addressOf(kind)}>Back to {KIND_LABELS[kind].toLowerCase()}</Link>
          </p>
          {kind === 'projects' || kind === 'exports' ? (
            <ProjectView key={opened} reference={opened} />
          ) : (
            <DocumentView key={`${kind} ${opened}`} kind={kind} after={opened} />
          )}
        </>
      )}
    </div>
  )
}

function NoWorkspace(): ReactNode {
  const { email } = useSessionState()
  return (
    <section className="card">
      <h1>Nothing here yet</h1>
      <p>
        No workspace is stored for <strong>{email}</strong>. Whoever runs this gateway can import one with{' '}
        <code>workspace-gateway import</code>.
      </p>
    </section>
  )
}
