// The GraphiQL page: GraphiQL signed in as the user, with example queries and the response pane of these pages.
import { StorageContextProvider } from '@graphiql/react'
import type { FetcherParams } from '@graphiql/toolkit'
import { GraphiQL } from 'graphiql'
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { ASK_FOR_TIMES, noAnswer, timed } from '../answer/answer.ts'
import { Skeleton } from '../design/skeleton.tsx'
import { useToast } from '../design/toast.tsx'
import { NOT_JSON } from '../frame/connection.ts'
import { useExplorer, useSessionState } from '../frame/use-explorer.ts'
import { refusalOf } from '../reference/own-headers.ts'
import { graphqlBody } from '../rosetta/requests.ts'
import { QUERY_BUILDER } from './builder/query-builder.tsx'
import { Cockpit } from './cockpit.tsx'
import { examplesFor } from './examples.ts'
import { hideInfoWhileTyping } from './hide-info.ts'
import { createKeptAnswers } from './kept-answers.ts'
import { mendRoles } from './mend-roles.ts'
import { operationToRun } from './operations.ts'
import { Rewriting } from './rewriting/rewriting.tsx'
import { RunFirst } from './run-first.tsx'
import { SchemaAgain } from './schema-again.ts'
import { SharedInAddress } from './shared-in-address.ts'
import { readShared } from './shared-query.ts'
import { type BeforeClosing, ClosedTabs } from './tabs/closed-tabs.ts'
import { KeepHeaders } from './tabs/keep-headers.ts'
import { KeepOperation } from './tabs/keep-operation.ts'
import { KeepUndo } from './tabs/keep-undo.ts'
import { KeepWritten } from './tabs/keep-written.ts'
import { type OwnStorage, ownStorage, readyTabs } from './tabs/own-storage.ts'
import { createTabRuns, ShowTabRuns } from './tabs/tab-runs.ts'
import { TypedVariables, type VariableEditor } from './typed-variables.ts'
import { useExampleRefs } from './use-example-refs.ts'
import 'graphiql/style.css'
import './graphiql-page.css'

const PLUGINS = [QUERY_BUILDER]
/**
 * Operation name of GraphiQL's own introspection query. It differs from the name in queries that people paste and run.
 */
const OWN_INTROSPECTION = 'SchemaOfThisPage'
const MEDIA_TYPES = { 'content-type': 'application/json', accept: 'application/graphql-response+json' }

interface GraphiqlPageProps {
  readonly theme: 'light' | 'dark'
}

export function GraphiqlPage({ theme }: GraphiqlPageProps): ReactNode {
  const { facts, unstored, writtenHeaders } = useExplorer()
  const { email } = useSessionState()
  const showToast = useToast()
  /** How often the data were cleared. Each time GraphiQL starts again, without what it has in memory. */
  const [clearings, setClearings] = useState(0)
  const storage = useMemo(() => {
    const own = unstored.get(email) ?? new Map<string, string>()
    unstored.set(email, own)
    return ownStorage(facts.basePath, email ?? '', own, () => {
      writtenHeaders.delete(email)
      setClearings(clearings + 1)
      showToast('GraphiQL’s tabs, headers, history and settings were removed from this browser.')
    })
  }, [facts, unstored, writtenHeaders, email, showToast, clearings])
  useEffect(() => {
    // The dialog has disappeared, and the button that opened it too.
    if (clearings > 0) document.getElementById('main')?.focus({ preventScroll: true })
  }, [clearings])
  const refs = useExampleRefs(storage)
  return (
    // Also wraps the skeleton: without a storage, GraphiQL would first read the storage of the previous user.
    <StorageContextProvider storage={storage}>
      {refs ? <Editor key={clearings} theme={theme} storage={storage} refs={refs} /> : <Skeleton label="Loading" />}
    </StorageContextProvider>
  )
}

/** Checks the headers first, because a header that the browser rejects would look like an unreachable gateway. */
function requireSendable(headers: object): void {
  for (const [name, value] of Object.entries(headers)) {
    const refusal = refusalOf(name, String(value))
    if (refusal !== null) throw new Error(`The header ${JSON.stringify(name)} cannot be sent. ${refusal}`)
  }
}

interface SchemaAnswer {
  readonly data?: object
  readonly errors?: readonly { readonly message: string }[]
}

interface RunOptions {
  readonly headers?: object
}

interface EditorProps extends GraphiqlPageProps {
  readonly storage: OwnStorage
  /** The references of the projects that have an export. */
  readonly refs: readonly string[]
}

function Editor({ theme, storage, refs }: EditorProps): ReactNode {
  const { session } = useExplorer()
  const email = useSessionState().email ?? ''
  const frame = useRef<HTMLDivElement>(null)
  const variableEditor = useRef<VariableEditor>(null)
  const beforeClosing = useRef<BeforeClosing>(null)
  const [answers] = useState(createKeptAnswers)
  const [runs] = useState(createTabRuns)
  const [isSchemaRefused, setSchemaRefused] = useState(false)
  const [{ shared, examples }] = useState(() => {
    const shared = readShared(location.hash)
    readyTabs(storage, shared, refs)
    return { shared, examples: examplesFor(email, refs[0] ?? null) }
  })
  useEffect(() => (frame.current ? mendRoles(frame.current) : undefined), [])
  useEffect(() => (frame.current ? hideInfoWhileTyping(frame.current) : undefined), [])

  // The fetcher must keep its identity: GraphiQL loads the schema again when it changes.
  const run = useCallback(
    async ({ query, variables, operationName }: FetcherParams, options?: RunOptions): Promise<unknown> => {
      const init = {
        method: 'POST',
        headers: { ...ASK_FOR_TIMES, ...options?.headers, ...MEDIA_TYPES },
        body: graphqlBody(
          { query, operationName: operationToRun(query, operationName) },
          // GraphiQL has just read them from there, and found a JSON object.
          variables === undefined ? undefined : variableEditor.current?.getValue(),
        ),
      }
      const isForShownTab = operationName === OWN_INTROSPECTION ? null : runs.begin()
      const got = await timed(() => {
        requireSendable(options?.headers ?? {})
        return session.send('/graphql', init)
      }).catch(noAnswer)
      if (isForShownTab) {
        const kept = answers.keep(got)
        // GraphiQL does not wait any more, and must not show this in another tab.
        return isForShownTab(kept) ? kept : new Promise(() => {})
      }
      const { data, errors } = (got.isJson ? (JSON.parse(got.text) as SchemaAnswer | null) : null) ?? {}
      if (data) return { data }
      // The gateway may keep its schema to itself. Without an exception GraphiQL would ask again.
      setSchemaRefused(errors !== undefined)
      const reason = errors?.[0]?.message ?? (got.isJson || got.status === 0 ? got.text : NOT_JSON)
      throw new Error(`The schema could not be read. ${reason}`)
    },
    [session, answers, runs],
  )

  return (
    <div ref={frame} className="graphiql-page">
      <h1 className="unseen">GraphiQL</h1>
      <GraphiQL
        fetcher={run as never}
        introspectionQueryName={OWN_INTROSPECTION}
        storage={storage}
        forcedTheme={theme}
        defaultEditorToolsVisibility="variables"
        isHeadersEditorEnabled
        plugins={PLUGINS}
        showPersistHeadersSettings={false}
        confirmCloseTab={(index) => beforeClosing.current?.(index) ?? true}
        defaultTabs={[...(shared ? [shared] : []), ...examples].map((tab) => ({ ...tab }))}
        defaultQuery=""
        {...(shared ? { query: shared.query, variables: shared.variables } : {})}
      >
        <GraphiQL.Logo>{null}</GraphiQL.Logo>
        <GraphiQL.Toolbar>
          {({ copy }) => (
            <>
              <Rewriting />
              {copy}
              {/* A link may name another operation, and the first run needs the right one. */}
              <KeepOperation />
              <SharedInAddress />
              <TypedVariables editor={variableEditor} />
              {/* Before the first run, which belongs to the tab that is shown now. */}
              <ShowTabRuns runs={runs} />
              <RunFirst isSchemaRefused={isSchemaRefused} />
              <SchemaAgain />
              <KeepWritten storage={storage} />
              <KeepHeaders />
              <ClosedTabs beforeClosing={beforeClosing} />
              {/* Last, because the ones before write into the editors of a tab that is shown. */}
              <KeepUndo />
            </>
          )}
        </GraphiQL.Toolbar>
        <GraphiQL.Footer>
          <Cockpit answers={answers} />
        </GraphiQL.Footer>
      </GraphiQL>
    </div>
  )
}
