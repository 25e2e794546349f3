// The page of one project: overview, files, document and exports.
import { PackageX } from 'lucide-react'
import { type ReactNode, useCallback, useEffect } from 'react'
import { EmptyState } from '../../design/empty-state.tsx'
import { Failure } from '../../design/failure.tsx'
import { Skeleton } from '../../design/skeleton.tsx'
import { Link } from '../../frame/navigation/link.tsx'
import { Tabs } from '../../frame/navigation/tabs.tsx'
import { useExplorer, usePlace } from '../../frame/use-explorer.ts'
import { useLoadedPerVisit } from '../../frame/use-loaded.ts'
import { addressOf, PROJECT_TABS, type ProjectTab } from '../addresses.ts'
import { NotThere } from '../not-there.tsx'
import { shownName } from '../shown-name.ts'
import { ComparisonView } from './comparison-view.tsx'
import { ExportFiles } from './export-files.tsx'
import { ExportList } from './export-list.tsx'
import { findExport, loadProject, type Project } from './project.ts'
import { ProjectDocument } from './project-document.tsx'
import { ProjectOverview } from './project-overview.tsx'

const LABELS: Readonly<Record<ProjectTab, string>> = {
  overview: 'Overview',
  files: 'Files',
  document: 'Document',
  exports: 'Exports',
}

interface ProjectPageProps {
  readonly reference: string
  /** The cursor of the preceding project in the list; null for the first one. */
  readonly after: string | null
  /** Called with the name of the project each time it is read. */
  readonly onName: (name: string) => void
}

export function ProjectPage({ reference, after, onName }: ProjectPageProps): ReactNode {
  const { session } = useExplorer()
  const parameters = new URLSearchParams(usePlace().search)
  const named = ['export', 'with'].map((name) => parameters.get(name))
  const loaded = useLoadedPerVisit(
    useCallback(() => loadProject(session, reference), [session, reference]),
    (last) => (last && named.every((key) => key === null || findExport(last, key)) ? 'meanwhile' : 'outdated'),
  )
  if (loaded.phase === 'loading') return <Skeleton label="Loading" />
  if (loaded.phase === 'failed') {
    return <Failure title="The project could not be read" message={loaded.message} onRetry={loaded.retry} />
  }
  if (loaded.value === null) return <NotThere />
  return <Opened project={loaded.value} after={after} onName={onName} />
}

interface OpenedProps extends Pick<ProjectPageProps, 'after' | 'onName'> {
  readonly project: Project
}

function Opened({ project, after, onName }: OpenedProps): ReactNode {
  const parameters = new URLSearchParams(usePlace().search)
  const usual: ProjectTab = project.exports.length > 0 ? 'files' : 'overview'
  const tab = PROJECT_TABS.find((name) => name === parameters.get('tab')) ?? usual
  const [key, otherKey] = [parameters.get('export'), parameters.get('with')]
  const [facts, other] = [findExport(project, key), findExport(project, otherKey)]
  const name = shownName(project.name, project.ref)
  useEffect(() => onName(name), [onName, name])
  const addressOfTab = (part: ProjectTab) => addressOf({ kind: 'projects', opened: project.ref, tab: part })
  return (
    <section className="opened">
      <h1 dir="auto" title={name}>
        {name}
      </h1>
      {project.description !== null && <p dir="auto">{project.description}</p>}
      <Tabs
        label="Parts of the project"
        tabs={PROJECT_TABS.map((part) => ({
          to: addressOfTab(part),
          label: LABELS[part],
          ...(part === 'exports' ? { count: project.exports.length } : {}),
        }))}
        current={addressOfTab(tab)}
      />
      {tab === 'overview' && <ProjectOverview project={project} />}
      {tab === 'document' && <ProjectDocument reference={project.ref} after={after} />}
      {tab === 'files' &&
        (key !== null && facts === null ? (
          <ExportGone project={project} title="This export is not there any more" />
        ) : (
          <ExportFiles project={project} facts={facts} />
        ))}
      {tab === 'exports' &&
        (otherKey === null ? (
          <ExportList project={project} />
        ) : facts && other ? (
          <ComparisonView project={project} older={other} newer={facts} />
        ) : (
          <ExportGone project={project} title="One of the two exports is not there any more" />
        ))}
    </section>
  )
}

interface ExportGoneProps {
  readonly project: Project
  readonly title: string
}

/** Shown for a link to an export that has been removed. */
function ExportGone({ project, title }: ExportGoneProps): ReactNode {
  return (
    <EmptyState Icon={PackageX} title={title}>
      <p>The link names an export that this project does not have, or no longer.</p>
      {project.exports.length > 0 && (
        <p>
          <Link to={addressOf({ kind: 'projects', opened: project.ref, tab: 'files' })}>Open the newest export</Link>
        </p>
      )}
    </EmptyState>
  )
}
