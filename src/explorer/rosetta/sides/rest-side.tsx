// The left side: the REST request as runnable code, in a language that the person chooses.
import { Play } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Answer } from '../../answer/answer.ts'
import { AnswerView } from '../../answer/answer-view.tsx'
import { type RestRequest, restCall, type SignIn } from '../../snippets/call.ts'
import { SnippetView } from '../../snippets/snippet-view.tsx'

interface RestSideProps {
  readonly request: RestRequest
  readonly signIn: SignIn
  readonly answer: Answer | null
  readonly isRunning: boolean
  /** Null where the route cannot be tried. */
  readonly onRun: (() => void) | null
}

export function RestSide({ request, signIn, answer, isRunning, onRun }: RestSideProps): ReactNode {
  return (
    <section className="side rest" aria-labelledby="rest-title">
      <div className="side-head">
        <h2 id="rest-title">REST</h2>
        {onRun && (
          <button type="button" className="small" onClick={onRun}>
            <Play size={13} aria-hidden="true" /> Run<span className="unseen"> REST</span>
          </button>
        )}
      </div>
      <div className="request">
        <SnippetView call={restCall(request, signIn.url)} signIn={signIn} label="REST request" />
      </div>
      <AnswerView
        answer={answer}
        isRunning={isRunning}
        label="REST answer"
        fileName={`${request.route.path.slice(1)}.json`}
      />
    </section>
  )
}
