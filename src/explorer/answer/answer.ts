// Sends a request, measures it, and formats what the pages show of the response.
import { offload } from '../beside/beside.ts'
import { failureText } from '../frame/connection.ts'
import { readAnswer } from './reading.ts'

export interface Answer {
  /** The HTTP status; 0 when no response arrived. */
  readonly status: number
  readonly durationMs: number
  /** Sum of the durations in the `Server-Timing` header, in milliseconds; null when the header is missing. */
  readonly serverMs: number | null
  /** Whether the response is a kept reply, according to its `Gateway-Trace` header. */
  readonly isKept: boolean
  /** Size of the body after decompression. */
  readonly byteLength: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Whether the body is a GraphQL response with errors. */
  readonly hasErrors: boolean
  /** Computed once and stored, because the text may be long. */
  readonly isJson: boolean
  readonly text: string
  /** The text with every token truncated. */
  readonly shown: string
}

/** Request header that asks for step timings. A gateway sends them only if `--trace-header` is on. */
export const ASK_FOR_TIMES = { 'gateway-trace': '1' }

/** Browsers record the times of a page's first 250 requests, and those of later ones only if there is room again. */
const MOST_RECORDED = 200

export async function timed(send: () => Promise<Response>): Promise<Answer> {
  if (performance.getEntriesByType('resource').length > MOST_RECORDED) performance.clearResourceTimings()
  const began = performance.now()
  const response = await send()
  const bytes = await response.arrayBuffer()
  const tookMs = performance.now() - began
  const text = new TextDecoder().decode(bytes)
  const { isJson, hasErrors, shown } = await offload('readAnswer', readAnswer, text)
  const steps = [...(response.headers.get('server-timing') ?? '').matchAll(/;\s*dur=([\d.]+)/g)]
  return {
    status: response.status,
    durationMs: networkMs(response.url, began) ?? tookMs,
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

/**
 * Duration of the request in milliseconds, without the time that the page was busy or the request waited for a
 * connection. Undefined where the browser does not report it.
 */
function networkMs(url: string, began: number): number | undefined {
  const entry = performance
    .getEntriesByName(url)
    .filter((one) => one instanceof PerformanceResourceTiming)
    .find((one) => one.startTime >= began)
  const duration = entry ? entry.responseEnd - entry.requestStart : 0
  return duration > 0 ? duration : undefined
}

/** What a screen reader says when the answer is there. */
export function spokenText({ status, hasErrors, durationMs, shown }: Answer): string {
  return status === 0 ? shown : `Answered ${status}${hasErrors ? ' with errors' : ''} in ${timeText(durationMs)}`
}

export function timeText(milliseconds: number): string {
  return `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`
}

/** The server-side time, ready to display; empty when the gateway did not report one. */
export function serverText({ serverMs, isKept }: Pick<Answer, 'serverMs' | 'isKept'>): string {
  return serverMs === null ? '' : `server ${timeText(serverMs)}${isKept ? ', kept' : ''}`
}

export function sizeText(byteLength: number): string {
  if (byteLength < 1_000) return `${byteLength} B`
  if (byteLength < 1_000_000) return `${(byteLength / 1_000).toFixed(1)} kB`
  return `${(byteLength / 1_000_000).toFixed(1)} MB`
}
