// What the REST and the GraphQL endpoints answer from.
import type { ResponseCache } from '../http/caching/response-cache.ts'
import type { LimitConcurrency } from '../http/limits/concurrency-limit.ts'
import type { InFlightBytes } from '../http/limits/in-flight-bytes.ts'
import type { TakeTurn } from '../http/limits/take-turn.ts'
import type { FromSnapshot, IsSameUser } from './consistent-answer.ts'
import type { Services } from './context.ts'

export interface EndpointServices extends Services {
  readonly fromSnapshot: FromSnapshot
  readonly isSameUser: IsSameUser
  readonly cache: ResponseCache
  /** Asked before an endpoint holds more than a few bytes for a request. */
  readonly inFlight: InFlightBytes
  /** Of answers that are made for one user. */
  readonly limitMaking: LimitConcurrency
  /** Asked before work that takes long and cannot be cut into pieces. */
  readonly takeTurn: TakeTurn
}
