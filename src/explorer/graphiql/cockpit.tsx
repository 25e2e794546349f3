// What GraphiQL does not say itself: status, time, size and headers of the last answer, the query as code, a link to it.
import { useEditorContext } from '@graphiql/react'
import { Code, Share2 } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { type Answer, serverText, sizeText, timeText } from '../answer/answer.ts'
import { AnswerHeaders } from '../answer/answer-headers.tsx'
import { CopyButton } from '../design/copy-button.tsx'
import { failureText } from '../frame/connection.ts'
import { useExplorer, useSessionState } from '../frame/use-explorer.ts'
import { readVariables } from '../rosetta/requests.ts'
import { type Call, graphqlCall, type OwnHeaders } from '../snippets/call.ts'
import { SnippetView } from '../snippets/snippet-view.tsx'
import { linkTo } from './shared-query.ts'

export function Cockpit({ answer }: { readonly answer: Answer | null }): ReactNode {
  const { facts } = useExplorer()
  const email = useSessionState().email ?? ''
  const { queryEditor, variableEditor, headerEditor } = useEditorContext({ nonNull: true })
  const [isCode, setCode] = useState(false)
  const url = location.origin + facts.basePath
  const written = () => ({ query: queryEditor?.getValue() ?? '', variables: variableEditor?.getValue() ?? '' })
  return (
    <section className="cockpit" aria-label="The last answer">
      {answer === null ? (
        <span>Not run yet. Control and Enter runs the query.</span>
      ) : (
        <>
          <span
            className={`status ${answer.status === 0 || answer.status >= 400 ? 'bad' : answer.hasErrors ? 'warn' : 'good'}`}
          >
            {answer.status === 0 ? 'no answer' : answer.hasErrors ? `${answer.status}, errors` : answer.status}
          </span>
          <span>{timeText(answer.durationMs)}</span>
          {answer.serverMs !== null && <span>{serverText(answer)}</span>}
          <span>{sizeText(answer.byteLength)}</span>
        </>
      )}
      <span className="spread" />
      <button type="button" className="small" aria-pressed={isCode} onClick={() => setCode(!isCode)}>
        <Code size={14} aria-hidden="true" /> Code
      </button>
      <CopyButton label="Copy link" text={() => linkTo(`${url}/graphql`, written())} Icon={Share2} />
      {answer && <AnswerHeaders headers={answer.headers} />}
      {isCode && (
        <SnippetView
          call={callOf(written(), headerEditor?.getValue() ?? '', url)}
          signIn={{ url, email }}
          label="The query"
        />
      )}
    </section>
  )
}

/** A sentence while the variables or the headers are not JSON. */
function callOf(
  { query, variables }: { readonly query: string; readonly variables: string },
  headers: string,
  url: string,
): Call | string {
  try {
    return graphqlCall(query, readVariables(variables), url, readHeaders(headers))
  } catch (error) {
    return failureText(error)
  }
}

/** What the editor of headers holds, as GraphiQL sends it. */
function readHeaders(text: string): OwnHeaders {
  return Object.entries(readVariables(text, null, 'headers')).map(([name, value]) => [name, String(value)])
}
