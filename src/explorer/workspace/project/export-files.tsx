// The files of one export, and buttons to download or compare them.
import { FileArchive, FileJson, PackageOpen } from 'lucide-react'
import { type ReactNode, useCallback, useEffect } from 'react'
import { offload } from '../../beside/beside.ts'
import { EmptyState } from '../../design/empty-state.tsx'
import { Failure } from '../../design/failure.tsx'
import { exactDate } from '../../design/moment.ts'
import { useSaveFile } from '../../design/save-file.ts'
import { Skeleton } from '../../design/skeleton.tsx'
import { When } from '../../design/when.tsx'
import { Link } from '../../frame/navigation/link.tsx'
import { useExplorer } from '../../frame/use-explorer.ts'
import { useLoaded } from '../../frame/use-loaded.ts'
import { addressOf, useAddressParameters } from '../addresses.ts'
import { FileBrowser } from '../files/file-browser.tsx'
import { useZip } from '../files/use-zip.ts'
import { safePath } from '../files/zip.ts'
import { shownName } from '../shown-name.ts'
import { type Element, elementsOf } from './elements.ts'
import { type ExportFacts, exportKey, loadExport, type Project } from './project.ts'

interface OpenedExport {
  readonly facts: ExportFacts
  /** The stored text of the export. */
  readonly body: string
  readonly elements: readonly Element[]
}

interface ExportFilesProps {
  readonly project: Project
  /** Null when the project has no export. */
  readonly facts: ExportFacts | null
}

export function ExportFiles({ project, facts }: ExportFilesProps): ReactNode {
  const { session } = useExplorer()
  const loaded = useLoaded(
    useCallback(async () => {
      if (!facts) return null
      const body = await loadExport(session, project, facts)
      return { facts, body, elements: await offload('elementsOf', elementsOf, body) }
    }, [session, project, facts]),
  )
  if (loaded.phase === 'loading') return <Skeleton label="Loading" />
  if (loaded.phase === 'failed') {
    return <Failure title="The export could not be read" message={loaded.message} onRetry={loaded.retry} />
  }
  if (!loaded.value) {
    return (
      <EmptyState Icon={PackageOpen} title="No files yet">
        <p>This project has no export yet.</p>
      </EmptyState>
    )
  }
  return <Files project={project} opened={loaded.value} />
}

function Files({ project, opened }: { readonly project: Project; readonly opened: OpenedExport }): ReactNode {
  const { openFiles } = useExplorer()
  const [parameters, write, writeSoon] = useAddressParameters()
  const { facts, body, elements } = opened
  const zip = useZip()
  const saveFile = useSaveFile()
  const index = project.exports.indexOf(facts)
  const before = project.exports[index + 1]
  useEffect(() => {
    openFiles.current = {
      kind: 'projects',
      opened: project.ref,
      name: shownName(project.name, project.ref),
      ...(index === 0 ? {} : { exportKey: exportKey(facts) }),
      paths: elements.map(({ path }) => path),
    }
    return () => {
      openFiles.current = null
    }
  }, [openFiles, project, index, facts, elements])
  const fileName = safePath(`${project.ref}-${facts.createdAt}`.replaceAll('/', '_').replaceAll(':', ''))
  return (
    <>
      <div className="files-head">
        <p className="note">
          {index === 0 ? 'Newest export, ' : 'Export of '}
          <time dir="auto" dateTime={facts.createdAt}>
            {exactDate(facts.createdAt)}
          </time>
          , <When at={facts.createdAt} />
        </p>
        <div className="buttons">
          {zip.progress !== null && <progress aria-label="Zipping" max={1} value={zip.progress} />}
          {/* Both buttons have the same key, so that React keeps one element and its focus. */}
          {zip.progress === null ? (
            <button
              key="zip"
              type="button"
              onClick={() => zip.start({ elements, createdAt: facts.createdAt }, `${fileName}.zip`)}
            >
              <FileArchive size={15} aria-hidden="true" /> Download zip
            </button>
          ) : (
            <button key="zip" type="button" onClick={zip.cancel}>
              Cancel
            </button>
          )}
          <button type="button" onClick={() => saveFile(body, `${fileName}.json`, 'application/json')}>
            <FileJson size={15} aria-hidden="true" /> Download JSON
          </button>
          {before && (
            <Link
              className="button"
              to={addressOf({
                kind: 'projects',
                opened: project.ref,
                tab: 'exports',
                export: exportKey(facts),
                with: exportKey(before),
              })}
            >
              Compare with the one before
            </Link>
          )}
          {index === 0 && (
            <Link to={`/?${new URLSearchParams({ route: 'GET /exports', r: project.ref })}`} className="button">
              See the request
            </Link>
          )}
        </div>
      </div>
      {zip.failure !== null && <p role="alert">No zip was made. {zip.failure}</p>}
      {elements.length === 0 ? (
        <EmptyState Icon={PackageOpen} title="This export holds no files" />
      ) : (
        <FileBrowser
          elements={elements}
          of="export"
          file={parameters.get('file')}
          onFile={(file) => write({ file, line: null })}
          place={{ line: parameters.get('line'), onLine: (line) => writeSoon({ line }) }}
        />
      )}
    </>
  )
}
