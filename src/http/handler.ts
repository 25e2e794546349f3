// What answers a request, and what may stand before it.

import type { GatewayError } from '../errors.ts'
import type { GatewayRequest } from './request.ts'
import type { GatewayResponse } from './response.ts'

export type Handler = (request: GatewayRequest) => Promise<GatewayResponse>

/** Answers itself, or changes what the next one answers. */
export type Middleware = (next: Handler) => Handler

/** A path and a method, and what answers there. */
export interface Endpoint {
  readonly method: string
  readonly path: string
  readonly handle: Handler
  /** The answer to what it is not to handle, where that is no problem+json. */
  readonly refuse?: (error: GatewayError, request: GatewayRequest) => GatewayResponse
}
