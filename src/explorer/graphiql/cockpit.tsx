// The response pane of GraphiQL: the unaltered response with its status, times, size and headers, code samples, a link.
import { useEditorContext, useExecutionContext } from '@graphiql/react'
import { Code, Share2 } from 'lucide-react'
import { type ReactNode, useCallback, useMemo, useState, useSyncExternalStore } from 'react'
import { type Answer, spokenText } from '../answer/answer.ts'
import { AnswerView } from '../answer/answer-view.tsx'
import { CopyButton, LINK_COPIED } from '../design/copy-button.tsx'
import { failureText } from '../frame/connection.ts'
import { useExplorer, useSessionState } from '../frame/use-explorer.ts'
import { readVariables } from '../rosetta/requests.ts'
import { type Call, graphqlCall, type OwnHeaders } from '../snippets/call.ts'
import { SnippetView } from '../snippets/snippet-view.tsx'
import { PrintedText } from '../text/printed-text.tsx'
import type { KeptAnswers } from './kept-answers.ts'
import { operationToRun } from './operations.ts'
import { linkTo } from './shared-query.ts'

interface CockpitProps {
  readonly answers: KeptAnswers
}

export function Cockpit({ answers }: CockpitProps): ReactNode {
  const { facts } = useExplorer()
  const email = useSessionState().email ?? ''
  const { queryEditor, variableEditor, headerEditor, tabs, activeTabIndex } = useEditorContext({ nonNull: true })
  const operationName = queryEditor?.operationName ?? tabs[activeTabIndex]?.operationName ?? null
  const { isFetching } = useExecutionContext({ nonNull: true })
  const answer = useShownAnswer(answers, isFetching)
  const [isCode, setCode] = useState(false)
  const url = location.origin + facts.basePath
  const written = () => ({ query: queryEditor?.getValue() ?? '', variables: variableEditor?.getValue() ?? '' })
  const tools = (
    <span className="cockpit-tools">
      <button type="button" className="small" aria-pressed={isCode} onClick={() => setCode(!isCode)}>
        <Code size={14} aria-hidden="true" /> Code
      </button>
      <CopyButton
        label="Copy link"
        text={() => {
          const { query, variables } = written()
          return linkTo(`${url}/graphql`, {
            query,
            variables,
            operationName: operationToRun(query, operationName) ?? null,
          })
        }}
        Icon={Share2}
        said={() => LINK_COPIED}
      />
    </span>
  )
  return (
    <section className="cockpit" aria-label="The answer">
      <PrintedText text={queryEditor?.getValue() ?? ''} label="Query" />
      <span className="unseen" role="status">
        {isFetching ? 'Running' : answer === null ? '' : spokenText(answer)}
      </span>
      {isCode && (
        <SnippetView
          call={callOf({ ...written(), operationName }, headerEditor?.getValue() ?? '', url)}
          signIn={{ url, email }}
          label="The query"
        />
      )}
      {answer === null ? (
        <div className="text-tools">
          {isFetching ? 'Running …' : 'Not run yet. Control and Enter runs the query.'}
          {tools}
        </div>
      ) : (
        <AnswerView answer={answer} isRunning={isFetching} label="Response" fileName="graphql.json">
          {tools}
        </AnswerView>
      )}
    </section>
  )
}

/** The answer of the active tab. While the tab runs again, this is its previous answer. */
function useShownAnswer(answers: KeptAnswers, isFetching: boolean): Answer | null {
  const { responseEditor, tabs, activeTabIndex } = useEditorContext({ nonNull: true })
  const follow = useCallback(
    (listener: () => void) => {
      responseEditor?.on('change', listener)
      return () => responseEditor?.off('change', listener)
    },
    [responseEditor],
  )
  const shown = useSyncExternalStore(follow, () => responseEditor?.getValue() ?? '')
  const found = useMemo(() => answers.find(shown), [answers, shown])
  const tab = tabs[activeTabIndex]?.id
  const [last, setLast] = useState({ tab, answer: found })
  if (found !== null && (last.tab !== tab || last.answer !== found)) setLast({ tab, answer: found })
  return found ?? (isFetching && last.tab === tab ? last.answer : null)
}

interface Written {
  readonly query: string
  readonly variables: string
  readonly operationName: string | null
}

/** Returns an error sentence instead while the variables or the headers are not valid JSON. */
function callOf({ query, variables, operationName }: Written, headers: string, url: string): Call | string {
  try {
    return graphqlCall(query, readVariables(variables), url, { headers: readHeaders(headers), operationName })
  } catch (error) {
    return failureText(error)
  }
}

/** Parses the content of the header editor the way GraphiQL does. */
function readHeaders(text: string): OwnHeaders {
  return Object.entries(readVariables(text, 'headers')).map(([name, value]) => [name, String(value)])
}
