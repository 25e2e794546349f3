// The "Try it" form of an operation, which sends the request as the signed-in user.
import { Play } from 'lucide-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { ExplorerRoute } from '../../pages/explorer-config.ts'
import { type Answer, noAnswer, spokenText } from '../answer/answer.ts'
import { AnswerView } from '../answer/answer-view.tsx'
import { useExplorer, useSessionState } from '../frame/use-explorer.ts'
import { sendRest, withOwnSession } from '../rosetta/requests.ts'
import type { ProjectChoice } from '../rosetta/use-project-choices.ts'
import { ValueField } from '../rosetta/value-field.tsx'
import { SignInForm } from '../sign-in/sign-in-form.tsx'
import { canBeTried, NOT_TRIED } from '../snippets/email-enough.ts'
import { HeaderFields } from './header-fields.tsx'
import { type Draft, sentHeaders } from './own-headers.ts'

interface TryItProps {
  /** Id of the section of the operation. */
  readonly id: string
  readonly route: ExplorerRoute
  /** The projects to choose from; the first is the default. */
  readonly projects: readonly ProjectChoice[]
  readonly draft: Draft
  readonly onDraft: (draft: Draft) => void
}

export function TryIt({ id, route, projects, draft, onDraft }: TryItProps): ReactNode {
  const { facts, session } = useExplorer()
  const { phase, email } = useSessionState()
  const { method, path } = route
  const value = draft.value ?? (route.field === 'email' ? email : projects[0]?.ref) ?? ''
  const [answer, setAnswer] = useState<Answer | null>(null)
  const [isRunning, setRunning] = useState(false)
  const newest = useRef(new AbortController())
  // Abort the running request when the component unmounts.
  useEffect(() => () => newest.current.abort(), [])
  if (!canBeTried(route, facts)) return <p className="note">{NOT_TRIED}</p>
  if (phase !== 'signed-in') {
    return (
      <details className="try-sign-in">
        <summary>Sign in to try it here</summary>
        <SignInForm
          label={`Email, to try ${method} ${path}`}
          suggestion={facts.demoEmail ?? ''}
          onDone={() => focusTry(id)}
        />
      </details>
    )
  }

  /** A newer run aborts this one, so that its answer does not replace the newer one's. */
  async function run(sent = value): Promise<void> {
    newest.current.abort()
    const abort = new AbortController()
    newest.current = abort
    setRunning(true)
    const next = await answerTo(sent, abort.signal).catch(noAnswer)
    if (abort.signal.aborted) return
    setAnswer(next)
    setRunning(false)
  }

  async function answerTo(sent: string, signal: AbortSignal): Promise<Answer> {
    const send = (value: string) => sendRest({ route, value, headers: sentHeaders(draft.headers) }, session, signal)
    return route.field === 'refreshToken' ? withOwnSession(route, session, send) : send(sent)
  }

  return (
    <div className="try">
      <div className="controls">
        <ValueField
          route={route}
          value={value}
          projects={projects}
          onChange={(next) => onDraft({ ...draft, value: next })}
          onEnter={(next) => void run(next)}
        />
        <button type="button" onClick={() => isRunning || void run()} aria-disabled={isRunning}>
          <Play size={14} aria-hidden="true" /> Try it<span className="unseen">: {`${method} ${path}`}</span>
        </button>
      </div>
      <HeaderFields
        label={`${method} ${path}`}
        fields={draft.headers}
        onChange={(headers) => onDraft({ ...draft, headers })}
        onEnter={() => void run()}
      >
        The page sends <code>Authorization</code> with its own token
        {route.field !== null && (
          <>
            {' '}
            and <code>Content-Type: application/json</code>
          </>
        )}
        , unless you write another.
      </HeaderFields>
      <span className="unseen" role="status">
        {isRunning ? 'Running' : answer === null ? '' : spokenText(answer)}
      </span>
      {answer && (
        <AnswerView
          answer={answer}
          isRunning={isRunning}
          label={`Answer of ${method} ${path}`}
          fileName={`${path.slice(1)}.json`}
        />
      )}
    </div>
  )
}

/** The sign-in has replaced the focused form by this button. */
function focusTry(id: string): void {
  document.getElementById(id)?.querySelector<HTMLElement>('.try > .controls > button')?.focus()
}
