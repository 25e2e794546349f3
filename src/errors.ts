// Defines every failure of the gateway: one closed table of error codes, and the one error class that carries a code.
import { constants } from 'node:os'
import { memberOf } from './member-of.ts'

const FAILURES = {
  BAD_REQUEST: [400, 'The request cannot be understood.'],
  MALFORMED_JSON: [400, 'The body is not valid JSON in UTF-8.'],
  INVALID_EMAIL: [400, 'A valid email address is required, as `email`.'],
  MISSING_PARAMETER: [400, 'The query parameter `r`, the reference of a project, is required.'],
  INVALID_ARGUMENT: [400, 'An argument has a value that is not allowed.'],
  GRAPHQL_PARSE_FAILED: [400, 'The GraphQL document has a syntax error.'],
  GRAPHQL_VALIDATION_FAILED: [400, 'The GraphQL document does not fit the schema.'],
  BATCHING_NOT_SUPPORTED: [400, 'A request may hold only one operation: send several requests instead of a list.'],
  INCREMENTAL_DELIVERY_NOT_SUPPORTED: [400, '@defer and @stream are not supported: the answer comes in one piece.'],
  // Clients look for exactly this message; they then send the whole document instead of its hash.
  PERSISTED_QUERY_NOT_SUPPORTED: [400, 'PersistedQueryNotSupported'],
  OPERATION_NOT_FOUND: [400, 'The document has no operation of that name.'],
  UNAUTHENTICATED: [401, 'Sign in to do this, and send the token as `Authorization: Bearer`.'],
  INVALID_TOKEN: [401, 'The token is not valid, or no longer valid.'],
  FORBIDDEN: [403, 'These credentials do not allow this.'],
  LOGIN_REFUSED: [403, 'This gateway does not let you sign in this way.'],
  LOGIN_CODE_SENT: [
    403,
    'If this address may sign in here, a code was mailed to it: send the code with the email to sign in.',
  ],
  READ_ONLY: [403, 'This gateway is read-only: sign in, sign out and make changes at another gateway.'],
  LOGIN_CODE_WRONG: [403, 'The code is wrong or no longer valid.'],
  NOT_FOUND: [404, 'There is nothing at this path.'],
  NO_WORKSPACE: [404, 'No workspace is stored for this email.'],
  NO_PROJECT: [404, 'You have no project with this reference.'],
  NO_EXPORT: [404, 'This project has no export yet.'],
  METHOD_NOT_ALLOWED: [405, 'This path does not support this method.'],
  NOT_ACCEPTABLE: [406, 'The answer is not available in any media type that `Accept` allows.'],
  REQUEST_TIMEOUT: [408, 'The request took too long to arrive.'],
  ROUTE_RETIRED: [410, 'This route has been retired: use its GraphQL twin.'],
  PRECONDITION_FAILED: [412, 'The current ETag is not one that `If-Match` names.'],
  BODY_TOO_LARGE: [413, 'The request body is larger than this gateway accepts.'],
  RESPONSE_TOO_LARGE: [400, 'The answer would be too large: ask for fewer items, or page with `first` and `after`.'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'Send the body as application/json in UTF-8.'],
  TOO_MANY_REQUESTS: [429, 'Too many requests: wait a little.'],
  HEADERS_TOO_LARGE: [431, 'The address and the headers of the request are larger than this gateway accepts.'],
  INTERNAL: [500, 'Something went wrong on our side.'],
  ROUTE_BROWNOUT: [
    503,
    'This route will be retired, and is unavailable for a while so that its remaining callers notice.',
  ],
  SHUTTING_DOWN: [503, 'The gateway is shutting down.'],
  UNAVAILABLE: [503, 'The gateway cannot do this right now: try again shortly.'],
} as const satisfies Record<string, readonly [status: number, message: string]>

export type FailureCode = keyof typeof FAILURES

export const FAILURE_CODES = Object.keys(FAILURES).filter(isFailureCode)

export function isFailureCode(code: unknown): code is FailureCode {
  return typeof code === 'string' && Object.hasOwn(FAILURES, code)
}

/** HTTP status of a failure. */
export function statusOf(code: FailureCode): number {
  return FAILURES[code][0]
}

/** Default message of a failure. It is public. */
export function messageOf(code: FailureCode): string {
  return FAILURES[code][1]
}

/**
 * A rate limit that was reached (draft-ietf-httpapi-ratelimit-headers): all `quota` attempts in `windowSeconds` are
 * used.
 */
export interface RateLimitState {
  readonly policy: string
  readonly quota: number
  readonly windowSeconds: number
  /** Seconds until the next attempt is allowed. */
  readonly resetSeconds: number
}

export interface FailureDetails {
  /** Public message that replaces the one in the table. Never a secret, a token, a path or SQL. */
  readonly message?: string
  /** Seconds to wait, for `Retry-After` (RFC 9110 section 10.2.3). */
  readonly retryAfterSeconds?: number
  /** The limits that were reached, for the `RateLimit` header fields. */
  readonly rateLimits?: readonly RateLimitState[]
  /** Value of the `Allow` header: the methods that the path supports (RFC 9110 section 10.2.1). */
  readonly allow?: string
  /** Value of the `Accept-Encoding` header: the codings that a request body may have (RFC 9110 section 12.5.3). */
  readonly acceptEncoding?: string
  /** The original error, for the log only. */
  readonly cause?: unknown
}

/**
 * A failure with a code of the table. `toGatewayError` maps every other error to a code; its cause goes to the log
 * only.
 */
export class GatewayError extends Error {
  override readonly name = 'GatewayError'
  readonly code: FailureCode
  readonly retryAfterSeconds: number | undefined
  readonly rateLimits: readonly RateLimitState[]
  readonly allow: string | undefined
  readonly acceptEncoding: string | undefined

  constructor(code: FailureCode, details: FailureDetails = {}) {
    const { stackTraceLimit } = Error
    // Only 5xx failures are investigated. Capturing and formatting a stack trace costs more than the rest of a refusal.
    if (statusOf(code) < 500) Error.stackTraceLimit = 0
    super(details.message ?? messageOf(code), { cause: details.cause })
    Error.stackTraceLimit = stackTraceLimit
    this.code = code
    this.retryAfterSeconds = details.retryAfterSeconds
    this.rateLimits = details.rateLimits ?? []
    this.allow = details.allow
    this.acceptEncoding = details.acceptEncoding
  }
}

/** For a request whose client has left: nobody reads the answer, and nothing went wrong in the gateway. */
export const CLIENT_LEFT = new GatewayError('BAD_REQUEST')

/** Wrong usage of the command line, or wrong configuration: the exit code is 2, and nothing is started. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/**
 * A valid command could not be carried out: the disk is full, stdin cannot be read, another server does not answer, a
 * name is taken. The message is a sentence; the exit code is 1.
 */
export class MachineError extends Error {
  override readonly name = 'MachineError'
}

/** The message of a thrown value, for the log or the command line, never for a client. */
export function reasonOf(thrown: unknown): string {
  // Node throws an AggregateError without a message when a host name has several addresses and no connection succeeds.
  if (thrown instanceof AggregateError && thrown.message === '') return thrown.errors.map(reasonOf).join('; ')
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/** For `catch`: throws a `MachineError` that says what went wrong, and why. */
export function throwMachineError(what: string): (cause: unknown) => never {
  return (cause) => {
    throw new MachineError(`${what}: ${reasonOf(cause)}`, { cause })
  }
}

/** The same with a `UsageError`, for what the operator named. */
export function throwUsageError(what: string): (cause: unknown) => never {
  return (cause) => {
    throw new UsageError(`${what}: ${reasonOf(cause)}`, { cause })
  }
}

/**
 * Whether the file system refused because its disk is full or a quota is used up. Node gives an error for the latter a
 * number, but no code.
 */
export function hasNoRoom(thrown: unknown): boolean {
  return causeCodeOf(thrown) === 'ENOSPC' || memberOf(thrown, 'errno') === -constants.errno.EDQUOT
}

const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
}

/** Says why a file that the operator named cannot be read. Repeats nothing of its content. */
export function unreadable(path: string, thrown: unknown): string {
  return `cannot read ${path}: ${UNREADABLE[causeCodeOf(thrown) ?? ''] ?? reasonOf(thrown)}`
}

/**
 * Says that no answer came, with the error code of the cause (such as ECONNREFUSED) if it has one. Repeats nothing that
 * was sent.
 */
export function noAnswerInWords(thrown: unknown, words = 'no answer'): string {
  const code = causeCodeOf(thrown)
  return code === null ? words : `${words} (${code})`
}

/** The error code of `thrown`, or of the nearest `cause` below it that has one; null if none has. */
export function causeCodeOf(thrown: unknown): string | null {
  if (!(thrown instanceof Error)) return null
  const code: unknown = Reflect.get(thrown, 'code')
  return typeof code === 'string' ? code : causeCodeOf(thrown.cause)
}
