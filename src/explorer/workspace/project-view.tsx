// One project: what it is, every export it had, and the files of the newest.
import { type ReactNode, useCallback } from 'react'
import { sizeText } from '../answer.ts'
import { Link } from '../navigation.tsx'
import { useExplorer } from '../use-explorer.ts'
import { useLoaded } from '../use-loaded.ts'
import { FileBrowser } from './file-browser.tsx'
import { dateText } from './items.ts'
import { type OpenedProject, openProject } from './project.ts'
import { safePath, zipOf } from './zip.ts'

export function ProjectView({ reference }: { readonly reference: string }): ReactNode {
  const { session } = useExplorer()
  const loaded = useLoaded(useCallback(() => openProject(session, reference), [session, reference]))
  if (loaded.phase === 'loading') return <p className="note">Loading …</p>
  if (loaded.phase === 'failed') return <p role="alert">{loaded.message}</p>
  return <Opened {...loaded.value} />
}

function Opened({ project, exportBody, elements }: OpenedProject): ReactNode {
  const { ref, name, description, framework, version, tags, createdAt, updatedAt, exports } = project
  const facts = [
    ['Reference', ref],
    ['Framework', [framework, version].filter(Boolean).join(' ')],
    ['Created', dateText(createdAt ?? '')],
    ['Changed', dateText(updatedAt ?? '')],
    ['Tags', tags?.join(', ') ?? ''],
  ].filter(([, value]) => value !== '')
  const fileName = safePath(`${ref}-${exports[0]?.createdAt ?? ''}`.replaceAll('/', '_').replaceAll(':', ''))
  return (
    <section className="opened">
      <h2>{name ?? ref}</h2>
      {description !== null && <p>{description}</p>}
      <dl className="project-facts">
        {facts.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <h3>Exports</h3>
      {exports.length === 0 && <p className="note">This project has no export yet.</p>}
      <ol className="exports" aria-label="Exports" tabIndex={exports.length > 5 ? 0 : undefined}>
        {exports.map(({ createdAt: madeAt, digest, byteLength, elementCount }, index) => (
          <li key={digest + madeAt}>
            <time dateTime={madeAt}>{madeAt}</time>
            <span>
              {elementCount} {elementCount === 1 ? 'file' : 'files'}, {sizeText(byteLength)}
            </span>
            <code title={digest}>{digest.slice(0, 12)}</code>
            {index === 0 && <span className="status good">newest</span>}
          </li>
        ))}
      </ol>
      {exportBody && (
        <>
          <div className="files-head">
            <h3>Files of the newest export</h3>
            <div className="buttons">
              <button type="button" onClick={() => save(zipOf(elements), `${fileName}.zip`, 'application/zip')}>
                Download zip
              </button>
              <button type="button" onClick={() => save(exportBody, `${fileName}.json`, 'application/json')}>
                Download JSON
              </button>
              <Link to={`/?${new URLSearchParams({ route: 'GET /exports', r: ref })}`} className="button">
                See the request
              </Link>
            </div>
          </div>
          <FileBrowser elements={elements} />
        </>
      )}
    </section>
  )
}

function save(bytes: Uint8Array<ArrayBuffer>, name: string, type: string): void {
  const url = URL.createObjectURL(new Blob([bytes], { type }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}
