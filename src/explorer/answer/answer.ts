// An answer as the pages keep it, and what is said of it.
import { beside } from '../beside/beside.ts'
import { failureText } from '../frame/connection.ts'
import { readAnswer } from './reading.ts'

export interface Answer {
  /** 0 when there was none. */
  readonly status: number
  readonly durationMs: number
  /** What the gateway says its steps took together, in `Server-Timing`; null when it does not say. */
  readonly serverMs: number | null
  /** Whether the gateway had this reply already, as it says in `Gateway-Trace`. */
  readonly isKept: boolean
  /** After decompression. */
  readonly byteLength: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Whether it is a GraphQL answer with errors. */
  readonly hasErrors: boolean
  /** Found out once: a text may be long. */
  readonly isJson: boolean
  readonly text: string
  /** The text with its tokens cut short. */
  readonly shown: string
}

/** Asks how long the steps took; a gateway answers it where its operator turned that on (`--trace-header`). */
export const ASK_FOR_TIMES = { 'gateway-trace': '1' }

export async function timed(send: () => Promise<Response>): Promise<Answer> {
  const began = performance.now()
  const response = await send()
  const bytes = await response.arrayBuffer()
  const text = new TextDecoder().decode(bytes)
  const { isJson, hasErrors, shown } = await beside('readAnswer', readAnswer, text)
  const steps = [...(response.headers.get('server-timing') ?? '').matchAll(/;\s*dur=([\d.]+)/g)]
  return {
    status: response.status,
    durationMs: networkMs(response.url, began) ?? performance.now() - began,
    serverMs: steps.length === 0 ? null : steps.reduce((sum, [, ms]) => sum + Number(ms), 0),
    isKept: response.headers.get('gateway-trace')?.includes('reply=kept') ?? false,
    byteLength: bytes.byteLength,
    headers: [...response.headers],
    hasErrors,
    isJson,
    text,
    shown: shown ?? text,
  }
}

export function noAnswer(error: unknown): Answer {
  const text = failureText(error)
  return {
    status: 0,
    durationMs: 0,
    serverMs: null,
    isKept: false,
    byteLength: 0,
    headers: [],
    hasErrors: false,
    isJson: false,
    text,
    shown: text,
  }
}

/** Without the time that this page itself was busy, or waited for a connection; undefined where the browser does not say. */
function networkMs(url: string, began: number): number | undefined {
  const entry = performance
    .getEntriesByName(url)
    .filter((one) => one instanceof PerformanceResourceTiming)
    .find((one) => one.startTime >= began)
  const duration = entry ? entry.responseEnd - entry.requestStart : 0
  return duration > 0 ? duration : undefined
}

export function timeText(milliseconds: number): string {
  return `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`
}

/** The time of the gateway itself. */
export function serverText({ serverMs, isKept }: Pick<Answer, 'serverMs' | 'isKept'>): string {
  return serverMs === null ? '' : `server ${timeText(serverMs)}${isKept ? ', kept' : ''}`
}

export function sizeText(byteLength: number): string {
  if (byteLength < 1_000) return `${byteLength} B`
  if (byteLength < 1_000_000) return `${(byteLength / 1_000).toFixed(1)} kB`
  return `${(byteLength / 1_000_000).toFixed(1)} MB`
}
