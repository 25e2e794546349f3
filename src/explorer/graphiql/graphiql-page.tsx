// GraphiQL, signed in as the user, with queries worth running.
import type { FetcherParams } from '@graphiql/toolkit'
import { GraphiQL } from 'graphiql'
import 'graphiql/setup-workers/vite'
import { type ReactNode, useEffect, useRef } from 'react'
import { useExplorer } from '../use-explorer.ts'
import { EXAMPLES } from './examples.ts'
import { mendTabs } from './mend-tabs.ts'
import { RunFirst } from './run-first.tsx'
import '@graphiql/react/style.css'
import '@graphiql/plugin-doc-explorer/style.css'
import '@graphiql/plugin-history/style.css'
import 'graphiql/graphiql.css'
import './graphiql-page.css'

interface GraphiqlPageProps {
  readonly theme: 'light' | 'dark'
}

export function GraphiqlPage({ theme }: GraphiqlPageProps): ReactNode {
  const { session } = useExplorer()
  const frame = useRef<HTMLDivElement>(null)
  useEffect(() => (frame.current ? mendTabs(frame.current) : undefined), [])
  async function run(parameters: FetcherParams): Promise<unknown> {
    const answer = await session.send('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/graphql-response+json, application/json' },
      body: JSON.stringify(parameters),
    })
    return answer.json()
  }
  return (
    <div ref={frame} className="graphiql-page">
      <h1 className="unseen">GraphiQL</h1>
      <GraphiQL
        fetcher={run as never}
        forcedTheme={theme}
        isHeadersEditorEnabled={false}
        showPersistHeadersSettings={false}
        defaultTabs={EXAMPLES.map((example) => ({ ...example }))}
        defaultQuery={EXAMPLES[0]?.query ?? ''}
      >
        <GraphiQL.Logo>{null}</GraphiQL.Logo>
        <GraphiQL.Toolbar>
          {({ prettify, merge, copy }) => (
            <>
              {prettify}
              {merge}
              {copy}
              <RunFirst example={EXAMPLES[0]?.query ?? ''} />
            </>
          )}
        </GraphiQL.Toolbar>
      </GraphiQL>
    </div>
  )
}
