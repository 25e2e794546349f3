// The REST reference: renders /openapi.json with samples and a form to try each operation.
import { Download } from 'lucide-react'
import { type MouseEvent, type ReactNode, useCallback, useEffect } from 'react'
import { Failure } from '../design/failure.tsx'
import { Skeleton } from '../design/skeleton.tsx'
import { Link } from '../frame/navigation/link.tsx'
import { useExplorer, useSessionState } from '../frame/use-explorer.ts'
import { useLoaded } from '../frame/use-loaded.ts'
import { useProjectChoices } from '../rosetta/use-project-choices.ts'
import { ErrorBody } from './error-body.tsx'
import { GettingStarted } from './getting-started.tsx'
import { type OpenApi, type ShownOperation, shownOperations } from './openapi.ts'
import { OperationSection } from './operation-section.tsx'
import { NO_DRAFT } from './own-headers.ts'
import { useSectionInAddress } from './use-section-in-address.ts'
import { useWritten } from './use-written.ts'
import './reference.css'

export function ReferencePage(): ReactNode {
  const { facts, connection } = useExplorer()
  const { email } = useSessionState()
  const address = `${facts.basePath}/openapi.json`
  const loaded = useLoaded(
    useCallback(async () => {
      const answer = await connection.fetch(address)
      if (!answer.ok) throw new Error(`The gateway answered ${answer.status}.`)
      return (await answer.json()) as OpenApi
    }, [connection, address]),
  )
  // The browser could not scroll to the fragment of the address, because the sections had not been rendered yet.
  useEffect(() => {
    if (loaded.phase === 'ready') show(location.hash.slice(1))
  }, [loaded.phase])
  if (loaded.phase === 'loading') return <Skeleton label="Loading" />
  if (loaded.phase === 'failed') {
    return <Failure title="The reference could not be read" message={loaded.message} onRetry={loaded.retry} />
  }
  // Keyed by user, so that answers and typed text do not carry over to the next user.
  return <Reference key={email ?? ''} document={loaded.value} address={address} />
}

function Reference({ document, address }: { readonly document: OpenApi; readonly address: string }): ReactNode {
  const { facts } = useExplorer()
  const { projects } = useProjectChoices()
  // The state lives here and not in the operation, so that typed text survives a search that hides the operation.
  const [{ words, drafts }, write] = useWritten()
  const operations = shownOperations(document)
  const shown = operations.filter((operation) => isAbout(operation, words))

  useSectionInAddress()

  return (
    <div className="page reference">
      <nav aria-label="Operations">
        <input
          type="search"
          aria-label="Search the reference"
          placeholder="Search"
          value={words}
          onChange={({ target }) => write({ words: target.value })}
        />
        <ul>
          <Entry id="start" basePath={facts.basePath}>
            Getting started
          </Entry>
          {shown.map(({ id, method, path }) => (
            <Entry key={id} id={id} basePath={facts.basePath}>
              <span className={`method ${method.toLowerCase()}`}>{method}</span> <span className="path">{path}</span>
            </Entry>
          ))}
          <Entry id="errors" basePath={facts.basePath}>
            Errors
          </Entry>
        </ul>
        {shown.length === 0 && <p className="note">No operation is about this.</p>}
      </nav>
      <div className="operations">
        <header>
          <h1>REST reference</h1>
          <p>{document.info.description.replaceAll('`', '')}</p>
          <p className="links">
            <span className="badge">Contract {document.info.version}</span>
            <a href={address} download="workspace-gateway.openapi.json">
              <Download size={14} aria-hidden="true" /> OpenAPI 3.1 document
            </a>
            <Link to="/graphql">GraphQL documentation</Link>
          </p>
        </header>
        {words === '' && <GettingStarted />}
        {shown.map((operation) => (
          <OperationSection
            key={operation.id}
            operation={operation}
            projects={projects}
            draft={drafts.get(operation.id) ?? NO_DRAFT}
            onDraft={(draft) => write({ drafts: new Map(drafts).set(operation.id, draft) })}
          />
        ))}
        <ErrorBody document={document} words={words} />
      </div>
    </div>
  )
}

interface EntryProps {
  readonly id: string
  readonly basePath: string
  readonly children: ReactNode
}

function Entry({ id, basePath, children }: EntryProps): ReactNode {
  const { navigation } = useExplorer()
  /** The page has a `<base>` element with another address, so a bare fragment would leave this page. */
  function follow(event: MouseEvent): void {
    event.preventDefault()
    navigation.replace(`/docs#${id}`)
    show(id)
  }
  return (
    <li>
      <a href={`${basePath}/docs#${id}`} onClick={follow}>
        {children}
      </a>
    </li>
  )
}

function show(id: string): void {
  const section = id === '' ? null : document.getElementById(id)
  section?.scrollIntoView()
  section?.focus({ preventScroll: true })
}

function isAbout({ method, path, summary, twin, answer, failures }: ShownOperation, words: string): boolean {
  const fields = answer?.fields.map(({ name, description }) => `${name} ${description}`).join(' ') ?? ''
  // Match the error codes, not the sentences around them, which many operations share.
  const codes = failures.flatMap(({ description }) => description.match(/\b[A-Z]+(?:_[A-Z]+)+\b/g) ?? []).join(' ')
  const text = `${method} ${path} ${summary} ${twin} ${fields} ${codes}`.toLowerCase()
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}
