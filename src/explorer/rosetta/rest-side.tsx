// The left side: a REST route as a curl that runs.
import type { ReactNode } from 'react'
import type { Answer } from '../answer.ts'
import { AnswerView } from '../answer-view.tsx'
import { CopyButton } from '../copy-button.tsx'
import { type RestRequest, restCurl, restFetch, type SnippetContext } from './snippets.ts'

interface RestSideProps {
  readonly request: RestRequest
  readonly context: SnippetContext
  readonly answer: Answer | null
  readonly isRunning: boolean
  readonly onRun: () => void
}

export function RestSide({ request, context, answer, isRunning, onRun }: RestSideProps): ReactNode {
  const curl = restCurl(request, context)
  return (
    <section className="side" aria-labelledby="rest-title">
      <div className="side-head">
        <h2 id="rest-title">REST</h2>
        <div className="buttons">
          <CopyButton label="Copy as curl" text={() => curl} />
          <CopyButton label="Copy as fetch" text={() => restFetch(request, context)} />
          <button type="button" className="small" onClick={onRun}>
            Run<span className="unseen"> REST</span>
          </button>
        </div>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable with the keyboard */}
      <section className="request" tabIndex={0} aria-label="REST request as curl">
        <pre>{curl}</pre>
      </section>
      <AnswerView answer={answer} isRunning={isRunning} label="REST answer" />
    </section>
  )
}
