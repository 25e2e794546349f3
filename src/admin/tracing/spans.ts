// A request and its steps as spans, in OTLP's JSON (opentelemetry-proto, "JSON Protobuf Encoding").
import type { GatewayRequest } from '../../http/request.ts'
import type { Step } from '../../http/request-record.ts'
import { threeDigits } from '../thousandths.ts'
import type { ParentSpan } from './trace-context.ts'

/** SPAN_KIND_SERVER and SPAN_KIND_INTERNAL. */
const SERVER = 2
const INTERNAL = 1
const ERROR = 2
const MAX_NAME_LENGTH = 64
const ORIGIN_MS = performance.timeOrigin

export interface TracedRequest {
  readonly traceId: string
  readonly spanId: string
  readonly parent: ParentSpan | null
  readonly newSpanId: () => string
}

/** The spans of a request that was answered, separated by commas. Every text in them is of a closed list, or was checked: ASCII. */
export function spansOf(request: GatewayRequest, { traceId, spanId, parent, newSpanId }: TracedRequest): string {
  const { record, method, client } = request
  const { route, status, startedAt, durationMs, operationName, isKept, failureCode, sentBytes, steps } = record
  const timed = (from: number, to: number) =>
    `"startTimeUnixNano":"${toNanos(from)}","endTimeUnixNano":"${toNanos(to)}"`
  let text =
    `{"traceId":"${traceId}","spanId":"${spanId}",` +
    (parent === null ? '' : `"parentSpanId":"${parent.spanId}",`) +
    `"name":"${method}${route === null ? '' : ` ${route.path}`}","kind":${SERVER},` +
    `${timed(startedAt, startedAt + durationMs)},"attributes":[${word('http.request.method', method)},` +
    `${word('url.scheme', client.scheme)},${whole('http.response.status_code', status)},` +
    `${whole('http.response.body.size', sentBytes)},${word('workspace_gateway.reply', isKept ? 'kept' : 'made')}`
  if (route !== null) text += `,${word('http.route', route.path)}`
  if (operationName !== null) text += `,${word('graphql.operation.name', operationName.slice(0, MAX_NAME_LENGTH))}`
  if (failureCode !== null) text += `,${word('error.type', failureCode)}`
  if (record.requestId !== null) text += `,${word('workspace_gateway.request_id', record.requestId)}`
  text += status >= 500 ? `],"status":{"code":${ERROR}}}` : ']}'
  const ids = steps?.map(newSpanId)
  steps?.forEach((step, index) => {
    const around = steps.findIndex((other, at) => at !== index && isWithin(step, other))
    text +=
      `,{"traceId":"${traceId}","spanId":"${ids?.[index]}","parentSpanId":"${ids?.[around] ?? spanId}",` +
      `"name":"${step.name}","kind":${INTERNAL},${timed(step.startedAt, step.endedAt)}}`
  })
  return text
}

/** Steps that begin and end together are not within each other. */
function isWithin(step: Step, other: Step): boolean {
  const length = ({ startedAt, endedAt }: Step) => endedAt - startedAt
  return other.startedAt <= step.startedAt && step.endedAt <= other.endedAt && length(step) < length(other)
}

function word(key: string, value: string): string {
  return `{"key":"${key}","value":{"stringValue":"${value}"}}`
}

function whole(key: string, value: number): string {
  return `{"key":"${key}","value":{"intValue":"${value}"}}`
}

/** Of a time of `performance.now()`, to the microsecond. */
function toNanos(time: number): string {
  const ms = ORIGIN_MS + time
  const seconds = Math.floor(ms / 1_000)
  const rest = ms - seconds * 1_000
  const whole = Math.floor(rest)
  // A whole number that was written a moment ago costs nothing: no text of the nanoseconds as one number.
  return `${seconds}${threeDigits(whole)}${threeDigits(Math.floor((rest - whole) * 1_000))}000`
}
