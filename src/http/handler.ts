// What answers a request, and what may stand before it.

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
}
