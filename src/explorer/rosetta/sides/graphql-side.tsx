// The right side: the editable GraphQL twin with its variables.
import { Play, RotateCcw } from 'lucide-react'
import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react'
import type { Answer } from '../../answer/answer.ts'
import { AnswerView } from '../../answer/answer-view.tsx'
import { failureText } from '../../frame/connection.ts'
import { type Call, graphqlCall, type SignIn } from '../../snippets/call.ts'
import { SnippetView } from '../../snippets/snippet-view.tsx'
import { type RowRequest, readVariables } from '../requests.ts'
import { indented } from '../rosetta-state.ts'

interface GraphqlSideProps {
  readonly request: RowRequest
  readonly signIn: SignIn
  readonly answer: Answer | null
  readonly isRunning: boolean
  /** Null where the route cannot be tried; the code sample is then shown first. */
  readonly onRun: (() => void) | null
  readonly onRunBoth: () => void
  readonly onQuery: (query: string) => void
  readonly onVariables: (variables: string) => void
  readonly onReset: () => void
}

export function GraphqlSide(props: GraphqlSideProps): ReactNode {
  const { request, signIn, answer, isRunning, onRun, onRunBoth, onQuery, onVariables, onReset } = props
  const { route, query, variables } = request
  const [isCode, setCode] = useState(onRun === null)
  const toggle = useRef<HTMLButtonElement>(null)

  /** The pressed button disappears, so the focus moves to the one beside it. */
  function reset(): void {
    onReset()
    toggle.current?.focus()
  }

  function runOnEnter(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    onRunBoth()
  }

  return (
    <section className="side graphql" aria-labelledby="graphql-title">
      <div className="side-head">
        <h2 id="graphql-title">GraphQL</h2>
        <div className="buttons">
          {query !== indented(route.twin) && (
            <button type="button" className="small" onClick={reset}>
              <RotateCcw size={13} aria-hidden="true" /> Reset
            </button>
          )}
          <button ref={toggle} type="button" className="small" aria-pressed={isCode} onClick={() => setCode(!isCode)}>
            {isCode ? 'Query' : 'Code'}
          </button>
          {onRun && (
            <button type="button" className="small" onClick={onRun}>
              <Play size={13} aria-hidden="true" /> Run<span className="unseen"> GraphQL</span>
            </button>
          )}
        </div>
      </div>
      <div className="request">
        {isCode ? (
          <SnippetView call={callOf(query, variables, signIn.url)} signIn={signIn} label="GraphQL request" />
        ) : (
          <>
            <textarea
              aria-label="GraphQL query; Control and Enter runs it"
              value={query}
              spellCheck={false}
              autoCapitalize="off"
              rows={7}
              onChange={(event) => onQuery(event.target.value)}
              onKeyDown={runOnEnter}
            />
            {(variables !== '' || query.includes('$')) && (
              <label className="variables">
                Variables
                <textarea
                  value={variables}
                  spellCheck={false}
                  rows={1}
                  onChange={(event) => onVariables(event.target.value)}
                  onKeyDown={runOnEnter}
                />
              </label>
            )}
          </>
        )}
      </div>
      <AnswerView answer={answer} isRunning={isRunning} label="GraphQL answer" fileName="graphql.json" />
    </section>
  )
}

/** Returns an error sentence instead while the variables are not valid JSON. */
function callOf(query: string, variables: string, url: string): Call | string {
  try {
    return graphqlCall(query, readVariables(variables), url)
  } catch (error) {
    return failureText(error)
  }
}
