// The right side: the GraphQL twin, to be edited.
import type { KeyboardEvent, ReactNode } from 'react'
import type { Answer } from '../answer.ts'
import { AnswerView } from '../answer-view.tsx'
import { CopyButton } from '../copy-button.tsx'
import { indented, type RosettaState } from './rosetta-state.ts'
import { graphqlCurl, type SnippetContext } from './snippets.ts'

interface GraphqlSideProps {
  readonly state: RosettaState
  readonly context: SnippetContext
  readonly answer: Answer | null
  readonly isRunning: boolean
  readonly onRun: () => void
  readonly onQuery: (query: string) => void
}

export function GraphqlSide({ state, context, answer, isRunning, onRun, onQuery }: GraphqlSideProps): ReactNode {
  const { route, value, query } = state
  const name = route.parameter ?? route.field
  const variables = name === null ? {} : { [name]: route.field === 'refreshToken' ? '…' : value }
  const twin = indented(route.twin)

  function runOnEnter(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    onRun()
  }

  return (
    <section className="side" aria-labelledby="graphql-title">
      <div className="side-head">
        <h2 id="graphql-title">GraphQL</h2>
        <div className="buttons">
          {query !== twin && (
            <button type="button" className="small" onClick={() => onQuery(twin)}>
              Reset
            </button>
          )}
          <CopyButton label="Copy as GraphQL" text={() => query} />
          <CopyButton label="Copy as curl" text={() => graphqlCurl(query, variables, context)} />
          <button type="button" className="small" onClick={onRun}>
            Run<span className="unseen"> GraphQL</span>
          </button>
        </div>
      </div>
      <div className="request">
        <textarea
          aria-label="GraphQL query; Control and Enter runs it"
          value={query}
          spellCheck={false}
          autoCapitalize="off"
          rows={9}
          onChange={(event) => onQuery(event.target.value)}
          onKeyDown={runOnEnter}
        />
        {name !== null && (
          <p className="variables">
            Variables <code>{JSON.stringify(variables)}</code>
          </p>
        )}
      </div>
      <AnswerView answer={answer} isRunning={isRunning} label="GraphQL answer" />
    </section>
  )
}
