// The services that the REST and GraphQL endpoints share.
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
  /** An endpoint reserves memory here before it holds more than a few bytes for a request. */
  readonly inFlight: InFlightBytes
  /** Limits how many responses are computed concurrently for one user. */
  readonly limitMaking: LimitConcurrency
  /** Waits for room in a turn, before long work that cannot be split. */
  readonly takeTurn: TakeTurn
  /** Milliseconds since 1970. */
  readonly clock: () => number
}
