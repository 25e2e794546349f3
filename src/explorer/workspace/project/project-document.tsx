// The document of the project, as it is stored.
import { type ReactNode, useCallback } from 'react'
import { Failure } from '../../design/failure.tsx'
import { Skeleton } from '../../design/skeleton.tsx'
import { useExplorer } from '../../frame/use-explorer.ts'
import { useLoaded } from '../../frame/use-loaded.ts'
import { TextView } from '../../text/text-view.tsx'
import { useAddressParameters } from '../addresses.ts'
import { loadDocument } from '../document.ts'

interface ProjectDocumentProps {
  readonly reference: string
  readonly after: string | null
}

export function ProjectDocument({ reference, after }: ProjectDocumentProps): ReactNode {
  const { session } = useExplorer()
  const [parameters, , writeSoon] = useAddressParameters()
  const loaded = useLoaded(
    useCallback(() => loadDocument(session, 'projects', reference, after), [session, reference, after]),
  )
  if (loaded.phase === 'loading') return <Skeleton label="Loading" />
  if (loaded.phase === 'failed') {
    return <Failure title="The document could not be read" message={loaded.message} onRetry={loaded.retry} />
  }
  return (
    <div className="framed">
      <TextView
        text={loaded.value.text}
        label="The document"
        language="json"
        fileName={`${reference}.json`}
        place={{ line: parameters.get('line'), onLine: (line) => writeSoon({ line }) }}
      />
    </div>
  )
}
