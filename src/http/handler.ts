// Types of the request pipeline: handler, middleware, observer, endpoint.

import type { GatewayError } from '../errors.ts'
import type { GatewayRequest } from './request.ts'
import type { GatewayResponse } from './response.ts'

export type Handler = (request: GatewayRequest) => Promise<GatewayResponse>

/** Answers a request itself, or changes the answer of the next handler. */
export type Middleware = (next: Handler) => Handler

/**
 * Called once for each answered request, when the connection has its answer; `request.record` is complete by then. It
 * runs for every request, so it does a few additions and stores nothing. It must not throw.
 */
export type ObserveResponse = (request: GatewayRequest) => void

/** A method and a path, and the handler that answers there. */
export interface Endpoint {
  readonly method: string
  readonly path: string
  readonly handle: Handler
  /**
   * Maximum size of the body in bytes, for endpoints that read it whole. With it, the body is received from the arrival
   * of the request on; without it, when the handler asks for it.
   */
  readonly bodyLimitBytes?: number
  /** Builds the answer for a request that is refused before it is handled, where that answer is not problem+json. */
  readonly refuse?: (error: GatewayError, request: GatewayRequest) => GatewayResponse
}
