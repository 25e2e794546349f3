// A failure of the table becomes problem+json (RFC 9457) with its headers, and what is told of it.
import { toGatewayError } from '../auth/to-gateway-error.ts'
import { type FailureCode, GatewayError, statusOf } from '../errors.ts'
import { excerpt, redact } from '../redact.ts'
import { rateLimitHeaders } from './rate-limit-fields.ts'
import { type GatewayResponse, type Headers, NO_STORE } from './response.ts'
import { STATUS_CODES } from './server/http-builtin.ts'

/** Answers the incident that a failure is part of, a URN that the log has a line of. Undefined where there is no log. */
export type ReportFailure = (error: unknown, requestId?: string) => string | undefined

/**
 * RFC 9457. The title is the status phrase, as `about:blank` asks; `code` tells failures of one status apart; `requestId` is that of
 * the response header and of the log.
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

/** `WWW-Authenticate` (RFC 6750 section 3; no `error` when nothing was presented), `Retry-After`, `Allow`. */
export function failureHeaders(error: GatewayError): Headers {
  const headers: Record<string, string> = {}
  if (error.code === 'UNAUTHENTICATED') headers['www-authenticate'] = 'Bearer'
  if (error.code === 'INVALID_TOKEN') headers['www-authenticate'] = 'Bearer error="invalid_token"'
  if (error.retryAfterSeconds !== undefined) headers['retry-after'] = String(error.retryAfterSeconds)
  if (error.allow !== undefined) headers.allow = error.allow
  return { ...headers, ...rateLimitHeaders(error) }
}

/** Decided on purpose, before anything went wrong: there is nothing to look up. */
export function isRefusal({ code, cause }: GatewayError): boolean {
  return (code === 'UNAVAILABLE' && cause === undefined) || isPlanned(code)
}

/** Whether the operator planned this failure: its status may be 5xx, and nothing is wrong. */
export function isPlanned(code: FailureCode | null): boolean {
  return code === 'ROUTE_BROWNOUT'
}

/** Errors of one kind and message have one cause: a database that is away says the same to each read. */
export function causeOf(thrown: unknown): unknown {
  const cause = thrown instanceof GatewayError && thrown.cause !== undefined ? thrown.cause : thrown
  return cause instanceof Error ? `${cause.name}: ${cause.message}` : cause
}
