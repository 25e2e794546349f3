// What a client is told of limits that it reached, in both dialects (draft-ietf-httpapi-ratelimit-headers-10).
import type { GatewayError } from '../errors.ts'
import type { Headers } from './response.ts'

/** `RateLimit-Policy` and `RateLimit` (sections 3 and 4): one item for each limit that was reached; none without. */
export function rateLimitHeaders({ rateLimits }: GatewayError): Headers {
  if (rateLimits.length === 0) return {}
  return {
    'ratelimit-policy': rateLimits
      .map(({ policy, quota, windowSeconds }) => `"${policy}";q=${quota};w=${windowSeconds}`)
      .join(', '),
    ratelimit: rateLimits.map(({ policy, resetSeconds }) => `"${policy}";r=0;t=${resetSeconds}`).join(', '),
  }
}

/** The same as members of GraphQL's `extensions`, whose clients often see no header. */
export function rateLimitExtensions({
  rateLimits,
  retryAfterSeconds,
}: GatewayError): Readonly<Record<string, unknown>> {
  return rateLimits.length === 0 ? {} : { retryAfterSeconds, rateLimits }
}
