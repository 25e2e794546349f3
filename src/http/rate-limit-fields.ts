// Tells a client about the rate limits it reached, as HTTP headers (draft-ietf-httpapi-ratelimit-headers-10), and when
// to try again, as GraphQL extensions.
import type { GatewayError } from '../errors.ts'
import type { Headers } from './response.ts'

/**
 * Builds `RateLimit-Policy` and `RateLimit` (sections 3 and 4), with one item per limit that was reached; no headers
 * without one.
 */
export function rateLimitHeaders({ rateLimits }: GatewayError): Headers {
  if (rateLimits.length === 0) return {}
  return {
    'ratelimit-policy': rateLimits
      .map(({ policy, quota, windowSeconds }) => `"${policy}";q=${quota};w=${windowSeconds}`)
      .join(', '),
    ratelimit: rateLimits.map(({ policy, resetSeconds }) => `"${policy}";r=0;t=${resetSeconds}`).join(', '),
  }
}

/**
 * The same data as members of GraphQL's `extensions`, with the seconds of `Retry-After`: GraphQL clients often cannot
 * see headers, and a partial answer has no such headers.
 */
export function retryExtensions({ rateLimits, retryAfterSeconds }: GatewayError): Readonly<Record<string, unknown>> {
  return {
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(rateLimits.length === 0 ? {} : { rateLimits }),
  }
}
