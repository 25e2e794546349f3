// The page of a template or UI library: its files, and the stored document itself.
import { type ReactNode, useCallback, useEffect } from 'react'
import { offload } from '../beside/beside.ts'
import { Failure } from '../design/failure.tsx'
import { Skeleton } from '../design/skeleton.tsx'
import { useExplorer } from '../frame/use-explorer.ts'
import { useLoaded } from '../frame/use-loaded.ts'
import { TextView } from '../text/text-view.tsx'
import { useAddressParameters } from './addresses.ts'
import { loadDocument } from './document.ts'
import { type DocumentParts, partsOf } from './document-parts.ts'
import { FileBrowser } from './files/file-browser.tsx'
import type { Kind } from './items.ts'
import { shownName } from './shown-name.ts'

const NO_PARTS: DocumentParts = { elements: [], componentCount: 0 }

interface DocumentPageProps {
  readonly kind: Exclude<Kind, 'projects'>
  /** The key of the document's item. */
  readonly opened: string
  /** The cursor of the preceding item; null for the first item. */
  readonly after: string | null
  /** Called with the name of the document once it is read. */
  readonly onName: (name: string) => void
}

export function DocumentPage({ kind, opened, after, onName }: DocumentPageProps): ReactNode {
  const { session, openFiles } = useExplorer()
  const [parameters, write, writeSoon] = useAddressParameters()
  const place = { line: parameters.get('line'), onLine: (line: string | null) => writeSoon({ line }) }
  const loaded = useLoaded(
    useCallback(async () => {
      const document = await loadDocument(session, kind, opened, after)
      return { ...document, parts: await offload('partsOf', partsOf, document.text) }
    }, [session, kind, opened, after]),
  )
  const { elements, componentCount } = loaded.phase === 'ready' ? loaded.value.parts : NO_PARTS
  const isReady = loaded.phase === 'ready'
  const name = shownName(isReady ? loaded.value.name : null, opened)
  useEffect(() => {
    if (isReady) onName(name)
  }, [isReady, onName, name])
  useEffect(() => {
    openFiles.current = { kind, opened, name, paths: elements.map(({ path }) => path) }
    return () => {
      openFiles.current = null
    }
  }, [openFiles, kind, opened, name, elements])
  if (loaded.phase === 'loading') return <Skeleton label="Loading" />
  if (loaded.phase === 'failed') {
    return <Failure title="It could not be read" message={loaded.message} onRetry={loaded.retry} />
  }
  const { description, text } = loaded.value
  const isDocument = elements.length === 0 || parameters.get('tab') === 'document'
  const isOfComponents = kind === 'libraries' && componentCount > 0
  const partCount = isOfComponents ? componentCount : elements.length
  return (
    <section className="opened">
      <h1 dir="auto">{name}</h1>
      {description !== null && <p dir="auto">{description}</p>}
      {elements.length > 0 && (
        <div className="segments">
          <button type="button" aria-pressed={!isDocument} onClick={() => write({ tab: null, line: null })}>
            {isOfComponents ? 'Components' : 'Files'} <span className="count">&nbsp;{partCount.toLocaleString()}</span>
          </button>
          <button type="button" aria-pressed={isDocument} onClick={() => write({ tab: 'document', line: null })}>
            Document
          </button>
        </div>
      )}
      {isDocument ? (
        <div className="framed">
          <TextView text={text} label="The document" language="json" fileName={`${name}.json`} place={place} />
        </div>
      ) : (
        <FileBrowser
          elements={elements}
          of={kind === 'templates' ? 'template' : 'UI library'}
          file={parameters.get('file')}
          onFile={(file) => write({ file, line: null })}
          place={place}
        />
      )}
    </section>
  )
}
