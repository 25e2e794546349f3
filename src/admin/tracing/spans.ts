// Encodes a request and its steps as OTLP spans in wire format.
import type { GatewayRequest } from '../../http/request.ts'
import type { Route, Step } from '../../http/request-record.ts'
import { createByRoute } from '../by-route.ts'
import { knownMethod } from '../known-method.ts'
import { ANY_VALUE, KEY_VALUE, SCOPE_SPANS, SPAN, STATUS } from './otlp.ts'
import {
  endMessage,
  fieldsOf,
  putFields,
  putHex,
  putNanos,
  putText,
  putVarint,
  type Written,
} from './protobuf-writer.ts'
import type { ParentSpan } from './trace-context.ts'

/** SPAN_KIND_SERVER and SPAN_KIND_INTERNAL. */
const SERVER = 2
const INTERNAL = 1
const ERROR = 2
const MAX_NAME_LENGTH = 64
/** Spans follow the wall clock when it differs by more. Below this, they keep the finer steps of `performance.now()`. */
const MAX_DRIFT_MS = 10
/** Sizes of a request's own span and of a step's span: larger than the longest ones. */
const REQUEST_BYTES = 1_024
const STEP_BYTES = 192
/** Size of the fields that all requests of a route share. */
const ABOUT_BYTES = 512
/** How often the base path occurs in a request's span: in `url.path`, in `http.route`, in the name. */
const BASE_PATHS = 3

export interface TracedRequest {
  readonly request: GatewayRequest
  readonly traceId: string
  readonly spanId: string
  readonly parent: ParentSpan | null
  readonly newSpanId: () => string
}

/** Returns an upper bound for the size of a request's spans, in bytes. */
export function mostBytesOf({ request: { record } }: TracedRequest, basePath: string): number {
  return REQUEST_BYTES + BASE_PATHS * basePath.length + STEP_BYTES * (record.steps?.length ?? 0)
}

/**
 * Writes the spans of an answered request. Every string in them comes from a closed list or was checked: all are ASCII.
 */
export function createSpanWriter(basePath: string): (out: Written, traced: TracedRequest) => void {
  const aboutPlain = createByRoute(writeAbout('http', basePath))
  const aboutTls = createByRoute(writeAbout('https', basePath))

  const currentOrigin = createTimeOrigin()

  return (out, { request, traceId, spanId, parent, newSpanId }) => {
    // One origin for all spans of a request: a step of the clock does not tear them apart.
    const origin = currentOrigin()
    const { record, method, client } = request
    const { route, status, startedAt, durationMs, operationName, isKept, failureCode, sentBytes, steps } = record
    const end = out.start
    if (status >= 500) {
      putFields(out, FAILED)
      // The semantic conventions set it in server spans for 5xx only.
      putWord(out, 'error.type', failureCode ?? String(status))
    }
    if (record.requestId !== null) putWord(out, 'workspace_gateway.request_id', record.requestId)
    if (failureCode !== null) putWord(out, 'workspace_gateway.failure_code', failureCode)
    if (operationName !== null) putWord(out, 'graphql.operation.name', operationName.slice(0, MAX_NAME_LENGTH))
    putWhole(out, 'http.response.body.size', sentBytes)
    putTimes(out, origin + startedAt, origin + startedAt + durationMs)
    const aboutOf = client.scheme === 'https' ? aboutTls : aboutPlain
    putFields(out, aboutOf(method, route, isKept ? -status : status))
    if (parent !== null) putHex(out, SPAN.parentSpanId, parent.spanId)
    putHex(out, SPAN.spanId, spanId)
    putHex(out, SPAN.traceId, traceId)
    endMessage(out, SCOPE_SPANS.spans, end)
    if (steps === null) return
    const ids = steps.map(newSpanId)
    for (const [index, step] of steps.entries()) {
      const around = steps.findIndex((other, at) => at !== index && isWithin(step, other))
      const endOfStep = out.start
      putTimes(out, origin + step.startedAt, origin + step.endedAt)
      putVarint(out, SPAN.kind, INTERNAL)
      putText(out, SPAN.name, step.name)
      putHex(out, SPAN.parentSpanId, ids[around] ?? spanId)
      putHex(out, SPAN.spanId, ids[index] ?? '')
      putHex(out, SPAN.traceId, traceId)
      endMessage(out, SCOPE_SPANS.spans, endOfStep)
    }
  }
}

const FAILED = fieldsOf(ABOUT_BYTES, (out) => {
  const end = out.start
  putVarint(out, STATUS.code, ERROR)
  endMessage(out, SPAN.status, end)
})

/** Encodes name, kind and the shared attributes. A negative status is the status of a cache hit. */
function writeAbout(scheme: string, basePath: string) {
  return (method: string, route: Route | null, status: number): Uint8Array =>
    fieldsOf(ABOUT_BYTES + BASE_PATHS * basePath.length, (out) => {
      // Without a route the path is whatever the client sent, so it is not exported.
      const path = route === null ? null : `${basePath}${route.path}`
      const known = knownMethod(method)
      // The semantic conventions put this word into the name of a span whose method they do not know.
      const shown = known === method ? method : 'HTTP'
      if (path !== null) putWord(out, 'url.path', path)
      if (path !== null) putWord(out, 'http.route', path)
      putWord(out, 'workspace_gateway.reply', status < 0 ? 'kept' : 'made')
      putWhole(out, 'http.response.status_code', Math.abs(status))
      putWord(out, 'url.scheme', scheme)
      putWord(out, 'http.request.method', known)
      if (known !== method) putWord(out, 'http.request.method_original', method)
      putVarint(out, SPAN.kind, SERVER)
      putText(out, SPAN.name, path === null ? shown : `${shown} ${path}`)
    })
}

/** Steps that begin and end together are not nested in each other. */
function isWithin(step: Step, other: Step): boolean {
  const length = ({ startedAt, endedAt }: Step) => endedAt - startedAt
  return other.startedAt <= step.startedAt && step.endedAt <= other.endedAt && length(step) < length(other)
}

function putWord(out: Written, key: string, value: string): void {
  const end = out.start
  putText(out, ANY_VALUE.stringValue, value)
  endAttribute(out, key, end)
}

function putWhole(out: Written, key: string, value: number): void {
  const end = out.start
  putVarint(out, ANY_VALUE.intValue, value)
  endAttribute(out, key, end)
}

function endAttribute(out: Written, key: string, end: number): void {
  endMessage(out, KEY_VALUE.value, end)
  putText(out, KEY_VALUE.key, key)
  endMessage(out, SPAN.attributes, end)
}

/**
 * Returns the wall-clock time at which `performance.now()` was 0. That is not `performance.timeOrigin` for long: the
 * wall clock is set, and a suspended or migrated machine stops the other one.
 */
function createTimeOrigin(): () => number {
  let origin = performance.timeOrigin
  return () => {
    const from = performance.now()
    const wall = Date.now()
    const to = performance.now()
    // A pause between the three readings is no drift.
    if (wall < origin + from - MAX_DRIFT_MS || wall > origin + to + MAX_DRIFT_MS) origin = wall - to
    return origin
  }
}

/** Writes times in milliseconds since the epoch, rounded down to the microsecond. */
function putTimes(out: Written, from: number, to: number): void {
  putNanos(out, SPAN.endTimeUnixNano, Math.floor(to * 1_000))
  putNanos(out, SPAN.startTimeUnixNano, Math.floor(from * 1_000))
}
