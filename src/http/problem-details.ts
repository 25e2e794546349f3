// Turns a failure into a problem+json response (RFC 9457) with its headers, and decides which failures are reported.
import { toGatewayError } from '../auth/to-gateway-error.ts'
import { type FailureCode, GatewayError, statusOf } from '../errors.ts'
import { STATUS_CODES } from '../http-builtin.ts'
import { excerpt, redact } from '../redact.ts'
import { rateLimitHeaders } from './rate-limit-fields.ts'
import { type GatewayResponse, type Headers, NO_STORE } from './response.ts'

/**
 * Reports a failure and returns the incident that it is part of: a URN that appears in the log. Returns undefined
 * without a log.
 */
export type ReportFailure = (error: unknown, requestId?: string) => string | undefined

/**
 * Builds an RFC 9457 problem. The title is the status phrase, as `about:blank` requires; `code` distinguishes failures
 * with the same status; `requestId` is the id in the response header and in the log.
 */
export function toProblem(thrown: unknown, report: ReportFailure, requestId: string): GatewayResponse {
  const error = toGatewayError(thrown)
  const status = statusOf(error.code)
  const incident = status >= 500 && !isRefusal(error) ? report(thrown, requestId) : undefined
  const problem = {
    type: 'about:blank',
    title: STATUS_CODES[status],
    status,
    code: error.code,
    detail: redact(excerpt(error.message)),
    instance: incident,
    requestId,
  }
  return {
    status,
    headers: {
      'content-type': 'application/problem+json; charset=utf-8',
      ...NO_STORE,
      ...failureHeaders(error),
    },
    body: JSON.stringify(problem),
    failureCode: error.code,
  }
}

/** RFC 6750 section 3: the scheme has at least one parameter, also where no token was presented and there is no error. */
const CHALLENGE = 'Bearer realm="workspace-gateway"'

/** Builds `WWW-Authenticate`, `Retry-After`, `Allow`, `Accept-Encoding` and the rate limit fields. */
export function failureHeaders(error: GatewayError): Headers {
  const headers: Record<string, string> = {}
  if (error.code === 'UNAUTHENTICATED') headers['www-authenticate'] = CHALLENGE
  if (error.code === 'INVALID_TOKEN') headers['www-authenticate'] = `${CHALLENGE}, error="invalid_token"`
  if (error.retryAfterSeconds !== undefined) headers['retry-after'] = String(error.retryAfterSeconds)
  if (error.allow !== undefined) headers.allow = error.allow
  if (error.acceptEncoding !== undefined) headers['accept-encoding'] = error.acceptEncoding
  return { ...headers, ...rateLimitHeaders(error) }
}

/** Whether the gateway refused on purpose, before anything went wrong: there is nothing to look up in the log. */
export function isRefusal({ code, cause }: GatewayError): boolean {
  return (code === 'UNAVAILABLE' && cause === undefined) || isPlanned(code)
}

/** Failures of normal operation. `LOGIN_CODE_SENT` is the first answer of each sign-in by mail. */
const PLANNED: ReadonlySet<FailureCode | null> = new Set(['ROUTE_BROWNOUT', 'SHUTTING_DOWN', 'LOGIN_CODE_SENT'])

/** Whether the operator planned this failure. Its status may be 5xx although nothing is wrong. */
export function isPlanned(code: FailureCode | null): boolean {
  return PLANNED.has(code)
}

/** Errors of the same kind and message have the same cause: a database that is away gives every read the same error. */
export function causeOf(thrown: unknown): unknown {
  const cause = thrown instanceof GatewayError && thrown.cause !== undefined ? thrown.cause : thrown
  return cause instanceof Error ? `${cause.name}: ${cause.message}` : cause
}
