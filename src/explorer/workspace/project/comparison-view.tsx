// The comparison of two exports of a project: which files differ, and how.
import { ArrowLeft } from 'lucide-react'
import { type ReactNode, useCallback } from 'react'
import { offload } from '../../beside/beside.ts'
import { EmptyState } from '../../design/empty-state.tsx'
import { Failure } from '../../design/failure.tsx'
import { exactDate } from '../../design/moment.ts'
import { Skeleton } from '../../design/skeleton.tsx'
import { lazyPart } from '../../frame/lazy-part.tsx'
import { Link } from '../../frame/navigation/link.tsx'
import { useExplorer } from '../../frame/use-explorer.ts'
import { useLoaded } from '../../frame/use-loaded.ts'
import { addressOf, useAddressParameters } from '../addresses.ts'
import { visibleName } from '../shown-name.ts'
import { BytesDiff } from './bytes-diff.tsx'
import { ChangeList } from './change-list.tsx'
import { changesBetween } from './changes.ts'
import type { LineDiffProps } from './line-diff.tsx'
import { type ExportFacts, loadExport, type Project } from './project.ts'
import '../files/file-browser.css'

const LineDiff = lazyPart<LineDiffProps>(async () => (await import('./line-diff.tsx')).LineDiff)

interface ComparisonViewProps {
  readonly project: Project
  readonly older: ExportFacts
  readonly newer: ExportFacts
}

export function ComparisonView({ project, older, newer }: ComparisonViewProps): ReactNode {
  const { session } = useExplorer()
  const [parameters, write, writeSoon] = useAddressParameters()
  const loaded = useLoaded(
    useCallback(async () => {
      const [before = '', after = ''] = await Promise.all(
        [older, newer].map((facts) => loadExport(session, project, facts)),
      )
      return offload('changesBetween', changesBetween, before, after)
    }, [session, project, older, newer]),
  )
  if (loaded.phase === 'loading') return <Skeleton label="Comparing" />
  if (loaded.phase === 'failed') {
    return <Failure title="The exports could not be read" message={loaded.message} onRetry={loaded.retry} />
  }
  const { changes, sameCount } = loaded.value
  const file = parameters.get('file')
  const chosen = file === null ? changes[0] : changes.find(({ path }) => path === file)
  const [from, to] = [older, newer].map(({ createdAt }) => exactDate(createdAt))
  return (
    <>
      <div className="files-head">
        <p>
          <Link to={addressOf({ kind: 'projects', opened: project.ref, tab: 'exports' })}>
            <ArrowLeft size={14} aria-hidden="true" /> All exports
          </Link>
        </p>
        <p className="note" role="status">
          From <bdi>{from}</bdi> to <bdi>{to}</bdi>: {changes.length.toLocaleString()}{' '}
          {changes.length === 1 ? 'file differs' : 'files differ'}, {sameCount.toLocaleString()} the same
        </p>
      </div>
      {changes.length === 0 ? (
        <EmptyState Icon={ArrowLeft} title="Both exports hold the same files" />
      ) : (
        <div className="browser">
          <ChangeList changes={changes} chosen={chosen} onChoose={(path) => write({ file: path, line: null })} />
          {chosen === undefined ? (
            <p className="note picture" role="status">
              <bdi className="file-path">{visibleName(file ?? '')}</bdi> does not differ between these exports.
            </p>
          ) : chosen.before?.isBase64 || chosen.after?.isBase64 ? (
            <BytesDiff key={chosen.path} {...chosen} />
          ) : (
            <LineDiff
              key={chosen.path}
              kind={chosen.kind}
              path={chosen.path}
              before={chosen.before?.content ?? ''}
              after={chosen.after?.content ?? ''}
              place={{ line: parameters.get('line'), onLine: (line) => writeSoon({ line }) }}
            />
          )}
        </div>
      )}
    </>
  )
}
