// What a failure looks like from outside, in both dialects: problem+json for REST, an entry of `errors` for GraphQL.
import { randomUUID } from 'node:crypto'
import { GraphQLError } from 'graphql'
import type { Caller } from '../auth/caller.ts'
import { type FailureCode, GatewayError, isFailureCode, type RateLimitState, statusOf } from '../errors.ts'
import { excerpt, redact } from '../redact.ts'
import { StoreUnavailableError } from '../store/contract.ts'
import { type GatewayResponse, GRAPHQL_HEADERS, type Headers, NO_STORE } from './response.ts'
import { STATUS_CODES } from './server/http-builtin.ts'

const GRAPHQL_RESPONSE = 'application/graphql-response+json'

/** Writes what happened to the log, under the id that the client was given. */
export type ReportFailure = (error: unknown, incident: string) => void

/** What ever is thrown, as a failure of the table: what is not one of ours says nothing of its cause. */
export function toGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error
  if (error instanceof StoreUnavailableError) {
    return new GatewayError('UNAVAILABLE', { retryAfterSeconds: 1, cause: error })
  }
  return new GatewayError('INTERNAL', { cause: error })
}

/** RFC 9457. The title is the status phrase, as `about:blank` asks; `code` tells failures of one status apart. */
export function toProblem(thrown: unknown, report: ReportFailure): GatewayResponse {
  const error = toGatewayError(thrown)
  const status = statusOf(error.code)
  const incident = status >= 500 ? newIncident(thrown, report) : undefined
  const problem = {
    type: 'about:blank',
    title: STATUS_CODES[status],
    status,
    code: error.code,
    detail: redact(excerpt(error.message)),
    instance: incident,
  }
  return {
    status,
    headers: {
      'content-type': 'application/problem+json; charset=utf-8',
      ...NO_STORE,
      ...failureHeaders(error),
    },
    body: JSON.stringify(problem),
  }
}

/** What went wrong in a GraphQL operation, and where in its document. */
export interface GraphQLFailure {
  readonly located: GraphQLError | null
  /** Null when the document itself is at fault: then the message and the status are GraphQL's own. */
  readonly error: GatewayError | null
  readonly thrown: unknown
}

export function toFailure(thrown: unknown): GraphQLFailure {
  const located = thrown instanceof GraphQLError ? thrown : null
  const original = located ? located.originalError : thrown
  // GraphQL's own error within its own error: a variable that does not fit its type.
  if (located && (!original || original instanceof GraphQLError)) return { located, error: null, thrown }
  return { located, error: toGatewayError(original), thrown: original }
}

/** Locations and path stay, so that a client sees where in its document it failed. */
export function toGraphQLError({ located, error, thrown }: GraphQLFailure, report: ReportFailure): GraphQLError {
  const place = located && {
    nodes: located.nodes,
    source: located.source,
    positions: located.positions,
    path: located.path,
  }
  if (!error) {
    const { http = { spec: true, status: 400 } } = located?.extensions ?? {}
    const extensions = { code: documentFailure(located?.extensions ?? {}), http }
    return new GraphQLError(redact(withoutValues(excerpt(located?.message ?? ''))), { ...place, extensions })
  }
  const instance = statusOf(error.code) >= 500 ? { instance: newIncident(thrown, report) } : {}
  return new GraphQLError(redact(excerpt(error.message)), {
    ...place,
    extensions: { code: error.code, ...rateLimitExtensions(error), ...instance },
  })
}

/** GraphQL repeats the values it refuses, and a value may be a secret; where it stands in the document stays. */
function withoutValues(message: string): string {
  const shown = message
    .replace(/ (?:got|has) invalid value\b.*/s, ' got a value that is not of its type.')
    .replace(/Unexpected (String|BlockString|Name|Int|Float) .*/s, 'Unexpected $1.')
  return upTo(upTo(shown, ' cannot represent ', ':'), 'Expected value of type ', ', found')
}

/** What stands before `end`, where it follows `start`; the value stands behind it. */
function upTo(message: string, start: string, end: string): string {
  const at = message.indexOf(start)
  const endAt = at === -1 ? -1 : message.indexOf(end, at)
  return endAt === -1 ? message : `${message.slice(0, endAt)}.`
}

/** A GraphQL response that is nothing but one failure, in the media type the client asked for. */
export function toGraphQLResponse(thrown: unknown, caller: Caller, report: ReportFailure): GatewayResponse {
  const error = toGatewayError(thrown)
  const accepted = caller.header('accept') ?? ''
  const mediaType = accepted.includes(GRAPHQL_RESPONSE) ? GRAPHQL_RESPONSE : 'application/json'
  return {
    status: statusOf(error.code),
    headers: { 'content-type': `${mediaType}; charset=utf-8`, ...GRAPHQL_HEADERS, ...failureHeaders(error) },
    body: JSON.stringify({ errors: [toGraphQLError(toFailure(thrown), report)] }),
  }
}

/** `WWW-Authenticate` (RFC 6750 section 3; no `error` when nothing was presented), `Retry-After`, `Allow`. */
export function failureHeaders(error: GatewayError): Headers {
  const headers: Record<string, string> = {}
  if (error.code === 'UNAUTHENTICATED') headers['www-authenticate'] = 'Bearer'
  if (error.code === 'INVALID_TOKEN') headers['www-authenticate'] = 'Bearer error="invalid_token"'
  if (error.retryAfterSeconds !== undefined) headers['retry-after'] = String(error.retryAfterSeconds)
  if (error.rateLimits.length > 0) Object.assign(headers, rateLimitHeaders(error.rateLimits))
  if (error.allow !== undefined) headers.allow = error.allow
  return headers
}

/** The structured fields of draft-ietf-httpapi-ratelimit-headers-10, sections 3 and 4: one item for each limit that was reached. */
function rateLimitHeaders(limits: readonly RateLimitState[]): Headers {
  return {
    'ratelimit-policy': limits
      .map(({ policy, quota, windowSeconds }) => `"${policy}";q=${quota};w=${windowSeconds}`)
      .join(', '),
    ratelimit: limits.map(({ policy, resetSeconds }) => `"${policy}";r=0;t=${resetSeconds}`).join(', '),
  }
}

/** The same in GraphQL, whose clients often see no header. */
function rateLimitExtensions({ rateLimits, retryAfterSeconds }: GatewayError): object {
  return rateLimits.length === 0 ? {} : { retryAfterSeconds, rateLimits }
}

/** Codes of libraries, in ours. */
const DOCUMENT_FAILURES: Readonly<Record<string, FailureCode>> = {
  OPERATION_RESOLUTION_FAILURE: 'OPERATION_NOT_FOUND',
  BAD_USER_INPUT: 'GRAPHQL_VALIDATION_FAILED',
}

function documentFailure({
  code,
  http,
}: {
  readonly code?: unknown
  readonly http?: { status?: number }
}): FailureCode {
  if (http?.status === 405) return 'METHOD_NOT_ALLOWED'
  if (isFailureCode(code)) return code
  return DOCUMENT_FAILURES[String(code)] ?? 'GRAPHQL_VALIDATION_FAILED'
}

/** RFC 9562 section 4 in its URN form. */
function newIncident(thrown: unknown, report: ReportFailure): string {
  const incident = `urn:uuid:${randomUUID()}`
  report(thrown, incident)
  return incident
}
