// Tells a client about the rate limits it reached, as HTTP headers and as GraphQL extensions
// (draft-ietf-httpapi-ratelimit-headers-10).
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

/** The same data as members of GraphQL's `extensions`, since GraphQL clients often cannot see headers. */
export function rateLimitExtensions({
  rateLimits,
  retryAfterSeconds,
}: GatewayError): Readonly<Record<string, unknown>> {
  return rateLimits.length === 0 ? {} : { retryAfterSeconds, rateLimits }
}
