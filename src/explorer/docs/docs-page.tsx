// The reference: /openapi.json as a page, every operation ready to be tried.
import { type MouseEvent, type ReactNode, useEffect, useState } from 'react'
import { Link } from '../navigation.tsx'
import { useProjectRefs } from '../rosetta/use-project-refs.ts'
import { useExplorer } from '../use-explorer.ts'
import { type OpenApi, shownOperations } from './openapi.ts'
import { OperationSection } from './operation-section.tsx'
import './docs.css'

export function DocsPage(): ReactNode {
  const { facts, session } = useExplorer()
  const refs = useProjectRefs(session)
  const [document, setDocument] = useState<OpenApi | null>(null)
  const [failure, setFailure] = useState<string | null>(null)
  const address = `${facts.basePath}/openapi.json`

  useEffect(() => {
    fetch(address)
      .then(async (answer) => setDocument((await answer.json()) as OpenApi))
      .catch((error: unknown) => setFailure(String(error)))
  }, [address])

  if (failure !== null) return <p role="alert">{failure}</p>
  if (!document) return <p className="note pad">Loading …</p>
  const operations = shownOperations(document)
  const tags = [...new Set(operations.map(({ tag }) => tag))]
  return (
    <div className="docs">
      <nav aria-label="Operations">
        {tags.map((tag) => (
          <div key={tag}>
            <h2>{tag}</h2>
            <ul>
              {operations
                .filter((operation) => operation.tag === tag)
                .map(({ id, method, path }) => (
                  <li key={id}>
                    <a href={`${facts.basePath}/docs#${id}`} onClick={(event) => showSection(event, id)}>
                      <span className={`method ${method.toLowerCase()}`}>{method}</span>{' '}
                      <span className="path">{path}</span>
                    </a>
                  </li>
                ))}
            </ul>
          </div>
        ))}
      </nav>
      <div className="operations">
        <header>
          <h1>REST reference</h1>
          <p>{document.info.description.replaceAll('`', '')}</p>
          <p className="note">
            Version {document.info.version} · <a href={address}>OpenAPI 3.1 document</a> ·{' '}
            <Link to="/graphql">GraphQL documentation</Link> in GraphiQL
          </p>
        </header>
        {operations.map((operation) => (
          <OperationSection key={operation.id} operation={operation} refs={refs} />
        ))}
      </div>
    </div>
  )
}

/** The base address of the shell is not this page's: a bare fragment would lead away. */
function showSection(event: MouseEvent, id: string): void {
  const section = document.getElementById(id)
  if (!section) return
  event.preventDefault()
  history.replaceState(null, '', `${location.pathname}#${id}`)
  section.scrollIntoView()
  section.focus({ preventScroll: true })
}
