// A real answer: its status, how long it took, how much it was, and what it said.
import type { ReactNode } from 'react'
import { LinesView } from './lines-view.tsx'

export interface Answer {
  readonly status: number
  readonly durationMs: number
  readonly byteLength: number
  readonly text: string
}

export async function timed(send: () => Promise<Response>): Promise<Answer> {
  const began = performance.now()
  const response = await send()
  const bytes = await response.arrayBuffer()
  return {
    status: response.status,
    durationMs: networkMs(response.url, began) ?? performance.now() - began,
    byteLength: bytes.byteLength,
    text: new TextDecoder().decode(bytes),
  }
}

/** Without the time that this page itself was busy; undefined where the browser does not say. */
function networkMs(url: string, began: number): number | undefined {
  const entry = performance
    .getEntriesByName(url)
    .find((one) => one instanceof PerformanceResourceTiming && one.startTime >= began)
  return entry && entry.duration > 0 ? entry.duration : undefined
}

const TOKENS = /\b(eyJ[\w-]{8})[\w-]*\.[\w-]+\.[\w-]+|\b(wgr_[\w-]{4})[\w-]{16,}/g

/** Tokens cut short, for what is shown or shared. */
export function withoutTokens(text: string): string {
  return text.replace(TOKENS, (_, access: string | undefined, refresh: string | undefined) => `${access ?? refresh}…`)
}

export function sizeText(byteLength: number): string {
  if (byteLength < 1_000) return `${byteLength} B`
  if (byteLength < 1_000_000) return `${(byteLength / 1_000).toFixed(1)} kB`
  return `${(byteLength / 1_000_000).toFixed(1)} MB`
}

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
