// Answers CORS (https://fetch.spec.whatwg.org/#http-cors-protocol) for the origins that the operator lists.
import { createOriginList } from '../auth/origins.ts'
import type { Middleware } from './handler.ts'
import { withoutOptionalWhiteSpace } from './negotiation/optional-white-space.ts'
import type { GatewayRequest } from './request.ts'
import { type GatewayResponse, type Headers, withHeaders } from './response.ts'

const PREFLIGHT_MAX_AGE_SECONDS = 600
/** Allowed for a preflight that lists no request headers, or lists them in a way no client does. */
const USUAL_REQUEST_HEADERS = 'Authorization, Content-Type, If-None-Match'
const RESPONSE_HEADERS =
  'API-Version, Deprecation, ETag, Link, RateLimit, RateLimit-Policy, Retry-After, Sunset, WWW-Authenticate, X-Request-Id'
const PREFLIGHT_VARY = 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method'

const MAX_REQUEST_HEADERS = 64
const MAX_REQUEST_HEADERS_LENGTH = 2_048
/** RFC 9110 section 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/** Number of refused origins that are reported, once each. Later ones are refused silently. */
const MAX_REPORTED_ORIGINS = 100
const MAX_REPORTED_LENGTH = 200

/** Called once for each origin that is not listed. */
export type ReportRefusedOrigin = (origin: string) => void

/** Tokens travel in a header, so credentials are never allowed, and a page may send any request header. */
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

/** Whether a browser asks if a page may send a request, before it sends that request. */
export function isPreflight(request: GatewayRequest): boolean {
  return request.method === 'OPTIONS' && request.header('access-control-request-method') !== undefined
}

/**
 * CORS headers for refusals that are sent before the request, with its `Origin`, is read. Such a refusal reveals
 * nothing about any user, so every page may read it if the operator lists any origin at all: a page that cannot read
 * the reason would report a network failure.
 */
export function corsOfRefusals(listed: readonly string[]): Headers {
  if (listed.length === 0) return {}
  return { 'access-control-allow-origin': '*', 'access-control-expose-headers': RESPONSE_HEADERS }
}

/** Adds the CORS headers for a listed origin. `origin` is null for any other caller. */
function allow(origin: string | null, request: GatewayRequest, reply: GatewayResponse): GatewayResponse {
  const preflight = isPreflight(request)
  const varied = withVary(reply, preflight ? PREFLIGHT_VARY : 'Origin')
  if (origin === null) return varied
  const allowed: Headers = {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': RESPONSE_HEADERS,
  }
  if (!preflight) return withHeaders(varied, allowed)
  return withHeaders(varied, {
    ...allowed,
    'access-control-allow-methods': reply.headers.allow ?? '',
    'access-control-allow-headers': allowedHeaders(request.header('access-control-request-headers')),
    'access-control-max-age': String(PREFLIGHT_MAX_AGE_SECONDS),
  })
}

/**
 * Returns the requested names: `traceparent`, `apollographql-client-name`, `x-requested-with` and whatever else tools
 * add.
 */
function allowedHeaders(asked: string | undefined): string {
  if (asked === undefined || asked.length > MAX_REQUEST_HEADERS_LENGTH) return USUAL_REQUEST_HEADERS
  const names = asked.split(',').flatMap((name) => withoutOptionalWhiteSpace(name) || [])
  const areNames = names.length <= MAX_REQUEST_HEADERS && names.every((name) => TOKEN.test(name))
  return areNames && names.length > 0 ? names.join(', ') : USUAL_REQUEST_HEADERS
}

/** Whether the page was served by this gateway, under whatever scheme the client used. */
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
