// Cross-origin reads (https://fetch.spec.whatwg.org/#http-cors-protocol) for the origins an operator lists.
import type { Middleware } from './handler.ts'
import { type GatewayResponse, type Headers, withHeaders } from './response.ts'

const PREFLIGHT_MAX_AGE_SECONDS = 600
const REQUEST_HEADERS = 'Authorization, Content-Type, If-None-Match'
const RESPONSE_HEADERS = 'API-Version, ETag, Retry-After, WWW-Authenticate'

/** Without origins no answer has CORS headers. Tokens travel in a header, so credentials are never allowed. */
export function createCors(origins: readonly string[]): Middleware {
  if (origins.length === 0) return (next) => next
  const anyOrigin = origins.includes('*')
  return (next) => async (request) => {
    const reply = withVary(await next(request))
    const origin = request.header('origin')
    if (origin === undefined || !(anyOrigin || origins.includes(origin))) return reply
    const allowed: Headers = {
      'access-control-allow-origin': origin,
      'access-control-expose-headers': RESPONSE_HEADERS,
    }
    if (request.method !== 'OPTIONS' || request.header('access-control-request-method') === undefined) {
      return withHeaders(reply, allowed)
    }
    return withHeaders(reply, {
      ...allowed,
      'access-control-allow-methods': reply.headers.allow ?? '',
      'access-control-allow-headers': REQUEST_HEADERS,
      'access-control-max-age': String(PREFLIGHT_MAX_AGE_SECONDS),
    })
  }
}

function withVary(reply: GatewayResponse): GatewayResponse {
  const { vary } = reply.headers
  return withHeaders(reply, { vary: vary === undefined ? 'Origin' : `${vary}, Origin` })
}
