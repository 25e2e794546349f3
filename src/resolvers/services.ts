// What the REST and the GraphQL endpoints answer from.
import type { Sessions } from '../auth/sessions.ts'
import type { ResponseCache } from '../http/caching/response-cache.ts'
import type { Services } from './context.ts'

export interface EndpointServices extends Services {
  readonly sessions: Sessions
  readonly cache: ResponseCache
}
