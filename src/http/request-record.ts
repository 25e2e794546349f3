// What is learned of a request while it is answered, for who looks on: metrics, the request log, traces, the ledger.
import type { FailureCode } from '../errors.ts'
import type { LiveSession } from '../store/contract.ts'

/** A path that something answers, and a method, which may be refused there, as the router knows them: without the base path, one object for each. */
export interface Route {
  /** `HEAD` and `OPTIONS` too. */
  readonly method: string
  readonly path: string
}

/** A part of the work on a request; times of `performance.now()`. */
export interface Step {
  readonly name: string
  readonly startedAt: number
  readonly endedAt: number
}

/** One for each request: made by the edge, filled in layer by layer, complete when it is observed. */
export interface RequestRecord {
  /** Milliseconds of `performance.now()`, when its headers had been read. */
  readonly startedAt: number
  /** Null until somebody asks for it (`requestIdOf`). */
  requestId: string | null
  /** Of the trace that it is part of (W3C Trace Context); null where none is recorded. */
  traceId: string | null
  /** Of its own span in that trace. */
  spanId: string | null
  /** What took its time, of a request that is traced; null of any other. */
  steps: Step[] | null
  /** Null for a path that there is not, and a method that HTTP does not know. */
  route: Route | null
  /** Null without a valid access token, and where none is asked for. */
  viewer: LiveSession | null
  /** Of the GraphQL operation that was answered; null when it has none. As the client wrote it: bound it before it is shown. */
  operationName: string | null
  /** Whether the reply had been made before, for this user in this state. */
  isKept: boolean
  /** Of a request that was answered with nothing but a failure. */
  failureCode: FailureCode | null
  /** Whether a page of an origin that is not listed sent it. */
  isOriginRefused: boolean
  /** Of the answer, as it was sent; 0 before. */
  status: number
  /** Of the body, handed to the connection. */
  sentBytes: number
  /** Whether it ended before all of it was: most often the client left, perhaps before there was an answer. */
  isBrokenOff: boolean
  /** From `startedAt` until the last of the body was handed to the connection. */
  durationMs: number
}

export function startRecord(startedAt: number): RequestRecord {
  return {
    startedAt,
    requestId: null,
    traceId: null,
    spanId: null,
    steps: null,
    route: null,
    viewer: null,
    operationName: null,
    isKept: false,
    failureCode: null,
    isOriginRefused: false,
    status: 0,
    sentBytes: 0,
    isBrokenOff: false,
    durationMs: 0,
  }
}

/** When a step begins; 0 for a request that is not traced, which costs nothing. */
export function beginStep({ steps }: RequestRecord): number {
  return steps === null ? 0 : performance.now()
}

export function endStep({ steps }: RequestRecord, name: string, startedAt: number): void {
  steps?.push({ name, startedAt, endedAt: performance.now() })
}
