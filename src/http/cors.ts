// Cross-origin reads (https://fetch.spec.whatwg.org/#http-cors-protocol) for the origins an operator lists.
import { createOriginList } from '../auth/origins.ts'
import type { Middleware } from './handler.ts'
import { withoutOptionalWhiteSpace } from './negotiation/optional-white-space.ts'
import type { GatewayRequest } from './request.ts'
import { type GatewayResponse, type Headers, withHeaders } from './response.ts'

const PREFLIGHT_MAX_AGE_SECONDS = 600
/** For a preflight that does not say which it needs, or asks in a way nobody does. */
const USUAL_REQUEST_HEADERS = 'Authorization, Content-Type, If-None-Match'
const RESPONSE_HEADERS =
  'API-Version, Deprecation, ETag, Link, RateLimit, RateLimit-Policy, Retry-After, Sunset, WWW-Authenticate, X-Request-Id'
const PREFLIGHT_VARY = 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method'

const MAX_REQUEST_HEADERS = 64
const MAX_REQUEST_HEADERS_LENGTH = 2_048
/** RFC 9110 section 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** Of origins that are told once; whatever comes after these is refused in silence. */
const MAX_REPORTED_ORIGINS = 100
const MAX_REPORTED_LENGTH = 200

/** Told of an origin that is not listed, once each. */
export type ReportRefusedOrigin = (origin: string) => void

/** Tokens travel in a header, so credentials are never allowed, and any request header may be asked for. */
export function createCors(listed: readonly string[], report: ReportRefusedOrigin): Middleware {
  const origins = createOriginList(listed)
  const reportOnce = createReportOnce(report)
  return (next) => (request) => {
    const origin = request.header('origin')
    const isListed = origin !== undefined && (origins.isAny || origins.includes(origin))
    if (origin !== undefined && !isListed && !isOwn(origin, request)) {
      request.record.isOriginRefused = true
      reportOnce(origin)
    }
    const replying = next(request)
    return listed.length === 0 ? replying : replying.then((reply) => allow(isListed ? origin : null, request, reply))
  }
}

/**
 * Of what is refused before a request is read, its `Origin` among it. It says nothing of anybody, so every page may read it where some
 * may read anything: a page that is told of no reason takes it for a network that is down.
 */
export function corsOfRefusals(listed: readonly string[]): Headers {
  if (listed.length === 0) return {}
  return { 'access-control-allow-origin': '*', 'access-control-expose-headers': RESPONSE_HEADERS }
}

/** To the page of a listed origin; null is no such page. */
function allow(origin: string | null, request: GatewayRequest, reply: GatewayResponse): GatewayResponse {
  const isPreflight = request.method === 'OPTIONS' && request.header('access-control-request-method') !== undefined
  const varied = withVary(reply, isPreflight ? PREFLIGHT_VARY : 'Origin')
  if (origin === null) return varied
  const allowed: Headers = {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': RESPONSE_HEADERS,
  }
  if (!isPreflight) return withHeaders(varied, allowed)
  return withHeaders(varied, {
    ...allowed,
    'access-control-allow-methods': reply.headers.allow ?? '',
    'access-control-allow-headers': allowedHeaders(request.header('access-control-request-headers')),
    'access-control-max-age': String(PREFLIGHT_MAX_AGE_SECONDS),
  })
}

/** Those that are asked for: `traceparent`, `apollographql-client-name`, `x-requested-with` and whatever else tools add. */
function allowedHeaders(asked: string | undefined): string {
  if (asked === undefined || asked.length > MAX_REQUEST_HEADERS_LENGTH) return USUAL_REQUEST_HEADERS
  const names = asked.split(',').flatMap((name) => withoutOptionalWhiteSpace(name) || [])
  const areNames = names.length <= MAX_REQUEST_HEADERS && names.every((name) => TOKEN.test(name))
  return areNames && names.length > 0 ? names.join(', ') : USUAL_REQUEST_HEADERS
}

/** The page came from here, under whatever scheme the client used. */
function isOwn(origin: string, { client }: GatewayRequest): boolean {
  return client.host !== '' && (origin === `http://${client.host}` || origin === `https://${client.host}`)
}

function createReportOnce(report: ReportRefusedOrigin): ReportRefusedOrigin {
  const reported = new Set<string>()
  return (origin) => {
    const shown = origin.slice(0, MAX_REPORTED_LENGTH)
    if (reported.size >= MAX_REPORTED_ORIGINS || reported.has(shown)) return
    reported.add(shown)
    report(shown)
  }
}

function withVary(reply: GatewayResponse, names: string): GatewayResponse {
  const { vary } = reply.headers
  return withHeaders(reply, { vary: vary === undefined ? names : `${vary}, ${names}` })
}
