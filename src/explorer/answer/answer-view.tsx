// Shows one response: its status, timings, size, body and headers.
import type { ReactNode } from 'react'
import { NOT_JSON } from '../frame/connection.ts'
import { TextView } from '../text/text-view.tsx'
import { type Answer, serverText, sizeText, timeText } from './answer.ts'
import { AnswerHeaders } from './answer-headers.tsx'
import './answer.css'

interface AnswerViewProps {
  readonly answer: Answer | null
  readonly isRunning: boolean
  readonly label: string
  readonly fileName: string
  /** Shown in the toolbar, before the buttons of the text view. */
  readonly children?: ReactNode
}

export function AnswerView({ answer, isRunning, label, fileName, children }: AnswerViewProps): ReactNode {
  if (!answer) return <p className="answer-none note">{isRunning ? 'Running …' : 'Not run yet.'}</p>
  const { status, durationMs, serverMs, byteLength, hasErrors, isJson, shown } = answer
  const tone = status === 0 || status >= 400 ? 'bad' : hasErrors ? 'warn' : 'good'
  return (
    <div className="answer" aria-busy={isRunning}>
      {status !== 0 && !isJson && shown !== '' && <p className="notice warn">{NOT_JSON}</p>}
      <TextView text={shown} label={label} language={isJson ? 'json' : 'text'} fileName={fileName}>
        <span className={`status ${tone}`}>
          {status === 0 ? 'no answer' : hasErrors ? `${status}, errors` : status}
        </span>
        {status !== 0 && (
          <>
            <span title="From sending the request to the last byte, as this browser measured it">
              {timeText(durationMs)}
            </span>
            {serverMs !== null && (
              <span title="What the gateway says it took (Server-Timing); kept: it had this reply already">
                {serverText(answer)}
              </span>
            )}
            <span>{sizeText(byteLength)}</span>
          </>
        )}
        {isRunning && <span className="badge">running …</span>}
        {children}
      </TextView>
      <AnswerHeaders headers={answer.headers} />
    </div>
  )
}
