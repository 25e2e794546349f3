// The workspace page: searchable lists of projects, templates and UI libraries, and the opened item.
import { DatabaseZap } from 'lucide-react'
import { type ReactNode, useCallback, useEffect, useState } from 'react'
import { EmptyState } from '../design/empty-state.tsx'
import { Failure } from '../design/failure.tsx'
import { ImportHint } from '../design/import-hint.tsx'
import { Skeleton } from '../design/skeleton.tsx'
import { Tabs } from '../frame/navigation/tabs.tsx'
import { useExplorer, usePlace, useSessionState } from '../frame/use-explorer.ts'
import { useLoadedPerVisit } from '../frame/use-loaded.ts'
import { addressOf } from './addresses.ts'
import { DocumentPage } from './document-page.tsx'
import { ItemList } from './item-list.tsx'
import { type Item, KIND_LABELS, KINDS, type Kind, loadWorkspace, type Workspace } from './items.ts'
import { NotThere } from './not-there.tsx'
import { ProjectPage } from './project/project-page.tsx'
import './workspace.css'

export function WorkspacePage(): ReactNode {
  const { session } = useExplorer()
  const shown = readShown(usePlace().search)
  const loaded = useLoadedPerVisit(
    useCallback(() => loadWorkspace(session), [session]),
    // An opened item reads its own content again, so the list is needed only to find it.
    (last) => (shown.opened === null ? 'meanwhile' : last && itemIn(last, shown) ? 'current' : 'outdated'),
  )
  if (loaded.phase === 'loading') return <Skeleton label="Loading" />
  if (loaded.phase === 'failed') {
    return <Failure title="The workspace could not be read" message={loaded.message} onRetry={loaded.retry} />
  }
  return loaded.value ? <Content workspace={loaded.value} /> : <NoWorkspace />
}

interface Shown {
  readonly kind: Kind
  /** The key of the opened item; null where the list is shown. */
  readonly opened: string | null
}

function readShown(search: string): Shown {
  const parameters = new URLSearchParams(search)
  const kind = KINDS.find((name) => name === parameters.get('show')) ?? 'projects'
  return { kind, opened: parameters.get('open') }
}

function itemIn(workspace: Workspace, { kind, opened }: Shown): Item | undefined {
  return workspace[kind].find(({ key }) => key === opened)
}

function Content({ workspace }: { readonly workspace: Workspace }): ReactNode {
  const { navigation, leftLists } = useExplorer()
  const { search, visit } = usePlace()
  const shown = readShown(search)
  const { kind, opened } = shown
  const item = itemIn(workspace, shown)
  // The opened item may have been read after the list, and may have been renamed meanwhile.
  const [read, setRead] = useState({ item, name: '' })
  const name = read.item === item && read.name !== '' ? read.name : item?.name
  const onName = useCallback((name: string) => setRead({ item, name }), [item])
  const title = opened === null ? KIND_LABELS[kind] : (name ?? 'Not found')
  useEffect(() => {
    const before = document.title
    document.title = `${title} · Workspace Gateway`
    return () => {
      // The name belongs to this user, so it must not stay in the title after a sign-out.
      document.title = before
    }
  }, [title])

  if (opened === null) {
    return (
      <div className="page workspace">
        <h1>Workspace</h1>
        <Tabs
          label="Kinds"
          tabs={KINDS.map((name) => ({
            to: addressOf({ kind: name }),
            label: KIND_LABELS[name],
            count: workspace[name].length,
          }))}
          current={addressOf({ kind })}
        />
        <ItemList key={`${kind} ${visit}`} items={workspace[kind]} kind={kind} />
      </div>
    )
  }
  return (
    <div className="page workspace">
      <nav className="crumbs" aria-label="Way back">
        <button
          type="button"
          className="link"
          onClick={() => navigation.go(leftLists.get(kind) ?? addressOf({ kind }))}
        >
          {KIND_LABELS[kind]}
        </button>
        <span aria-hidden="true">/</span> <bdi>{title}</bdi>
      </nav>
      {item === undefined ? (
        <NotThere />
      ) : kind === 'projects' ? (
        <ProjectPage key={item.key} reference={item.key} after={item.after} onName={onName} />
      ) : (
        <DocumentPage key={`${kind} ${item.key}`} kind={kind} opened={item.key} after={item.after} onName={onName} />
      )}
    </div>
  )
}

function NoWorkspace(): ReactNode {
  const { email } = useSessionState()
  return (
    <EmptyState Icon={DatabaseZap} title="Nothing here yet" isPage>
      <p>
        No workspace is stored for <strong>{email}</strong>. Whoever runs this gateway can put one in, from a file of
        lines of JSON:
      </p>
      <ImportHint />
    </EmptyState>
  )
}
