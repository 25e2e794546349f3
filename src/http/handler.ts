// What answers a request, what may stand before it, and what looks on.

import type { GatewayError } from '../errors.ts'
import type { GatewayRequest } from './request.ts'
import type { GatewayResponse } from './response.ts'

export type Handler = (request: GatewayRequest) => Promise<GatewayResponse>

/** Answers itself, or changes what the next one answers. */
export type Middleware = (next: Handler) => Handler

/**
 * Called once for each request that was answered, when its answer is with the connection; `request.record` is complete. Called
 * on the road of every request: it does a few additions and keeps nothing. It must not throw.
 */
export type ObserveResponse = (request: GatewayRequest) => void

/** A path and a method, and what answers there. */
export interface Endpoint {
  readonly method: string
  readonly path: string
  readonly handle: Handler
  /** Of the body, where it is read as a whole: it is received from the arrival of the request on. Otherwise once it is asked for. */
  readonly bodyLimitBytes?: number
  /** The answer to what it is not to handle, where that is no problem+json. */
  readonly refuse?: (error: GatewayError, request: GatewayRequest) => GatewayResponse
}
