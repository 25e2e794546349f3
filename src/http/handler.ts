// What answers a request, and the services it answers from.
import type { Sessions } from '../auth/sessions.ts'
import type { Services } from '../graphql/context.ts'
import type { Reply } from './reply.ts'
import type { ReplyCache } from './reply-cache.ts'
import type { GatewayRequest } from './request.ts'

export type Handler = (request: GatewayRequest) => Promise<Reply>

/** Answers itself, or changes what the next one answers. */
export type Layer = (next: Handler) => Handler

/** A path and a method, and what answers there. */
export interface Endpoint {
  readonly method: string
  readonly path: string
  readonly handle: Handler
}

export interface HttpServices extends Services {
  readonly sessions: Sessions
  readonly cache: ReplyCache
}
