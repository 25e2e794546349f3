// A failure of the table becomes problem+json (RFC 9457) with its headers, and what is told of it.
import { randomUUID } from 'node:crypto'
import { toGatewayError } from '../auth/to-gateway-error.ts'
import { type FailureCode, type GatewayError, statusOf } from '../errors.ts'
import { excerpt, redact } from '../redact.ts'
import { rateLimitHeaders } from './rate-limit-fields.ts'
import { type GatewayResponse, type Headers, NO_STORE } from './response.ts'
import { STATUS_CODES } from './server/http-builtin.ts'

/** Writes what happened to the log, under the id that the client was given. */
export type ReportFailure = (error: unknown, incident: string, requestId?: string) => void

/**
 * RFC 9457. The title is the status phrase, as `about:blank` asks; `code` tells failures of one status apart; `requestId` is that of
 * the response header and of the log.
 */
export function toProblem(thrown: unknown, report: ReportFailure, requestId: string): GatewayResponse {
  const error = toGatewayError(thrown)
  const status = statusOf(error.code)
  const incident = status >= 500 && !isRefusal(error) ? newIncident(thrown, report, requestId) : undefined
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

/** Reports a failure under a new id (RFC 9562 section 4, in its URN form), and answers the id. */
export function newIncident(thrown: unknown, report: ReportFailure, requestId?: string): string {
  const incident = `urn:uuid:${randomUUID()}`
  report(thrown, incident, requestId)
  return incident
}
