// A real answer: its status, how long it took, how much it was, and what it said.
import type { ReactNode } from 'react'
import { type Answer, sizeText, withoutTokens } from './answer.ts'
import { LinesView } from './lines-view.tsx'

interface AnswerViewProps {
  readonly answer: Answer | null
  readonly isRunning: boolean
  readonly label: string
}

export function AnswerView({ answer, isRunning, label }: AnswerViewProps): ReactNode {
  if (!answer) return <p className="answer-none note">{isRunning ? 'Running …' : 'Not run yet.'}</p>
  const isGood = answer.status >= 200 && answer.status < 300
  return (
    <div className="answer" aria-busy={isRunning}>
      <p className="facts">
        <span className={isGood ? 'status good' : 'status bad'}>{answer.status || 'no answer'}</span>
        <span>{answer.durationMs.toFixed(answer.durationMs < 10 ? 1 : 0)} ms</span>
        <span>{sizeText(answer.byteLength)}</span>
      </p>
      <LinesView text={withoutTokens(answer.text)} label={label} isJson />
    </div>
  )
}
