// Collects what is learned about a request while it is answered, for its observers: metrics, the request log, traces,
// the ledger.
import type { FailureCode } from '../errors.ts'
import type { LiveSession } from '../store/contract.ts'

/**
 * A path of an endpoint without the base path, and a method, which that path may refuse. The router makes one object
 * per combination.
 */
export interface Route {
  /** Includes `HEAD` and `OPTIONS`. */
  readonly method: string
  readonly path: string
}

/** A part of the work on a request. Times are values of `performance.now()`. */
export interface Step {
  readonly name: string
  readonly startedAt: number
  readonly endedAt: number
}

/** One per request: the server creates it, the layers fill it in, and it is complete when observers see it. */
export interface RequestRecord {
  /** When the headers had been read, in milliseconds of `performance.now()`. */
  readonly startedAt: number
  /** Null until the id is first needed (`requestIdOf`). */
  requestId: string | null
  /** Id of the trace that the request is part of (W3C Trace Context); null when none is recorded. */
  traceId: string | null
  /** Id of the request's own span in that trace. */
  spanId: string | null
  /** The timed steps of a traced request; null for any other request. */
  steps: Step[] | null
  /** Null for an unknown path, and for a method that HTTP does not know. */
  route: Route | null
  /** Null without a valid access token, and where none is needed. */
  viewer: LiveSession | null
  /**
   * Name of the GraphQL operation that was answered; null when it has none. It is as the client wrote it: bound its
   * length before showing it.
   */
  operationName: string | null
  /** Whether the reply was a cache hit for this user in this state. */
  isKept: boolean
  /** Set when the answer was nothing but a failure. */
  failureCode: FailureCode | null
  /** Whether a page of an origin that is not listed sent the request. */
  isOriginRefused: boolean
  /** Status of the response as it was sent; 0 before. */
  status: number
  /** Bytes of the body that were handed to the connection. */
  sentBytes: number
  /** Whether the response ended early: usually the client left, perhaps before there was an answer. */
  isBrokenOff: boolean
  /** Milliseconds from `startedAt` until the last of the body was handed to the connection. */
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

/** Returns the start time of a step; 0 for a request that is not traced, which costs nothing. */
export function beginStep({ steps }: RequestRecord): number {
  return steps === null ? 0 : performance.now()
}

export function endStep({ steps }: RequestRecord, name: string, startedAt: number): void {
  steps?.push({ name, startedAt, endedAt: performance.now() })
}
