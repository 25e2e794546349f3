// Decides when another server is asked again: after which pause, and whether with another access token.
import { causeCodeOf } from '../../errors.ts'

const FIRST_BACKOFF_MS = 250
const MAX_BACKOFF_MS = 15_000
/** Maximum of `Retry-After`. The next response states the remaining time again. */
const MAX_RETRY_AFTER_MS = 300_000
const BUSY = new Set([408, 429, 502, 503, 504])
/** Error codes for a connection that ended before an answer. */
const CONNECTION_ENDED = new Set(['ECONNRESET', 'EPIPE'])

/**
 * Exponential backoff with jitter between half and all of it, so that clients that failed together do not return
 * together.
 */
export function backoffMs(attempt: number): number {
  const whole = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** attempt)
  return whole / 2 + (Math.random() * whole) / 2
}

/** Response header fields as received; null for absent ones. */
export interface RetryFields {
  readonly retryAfter: string | null
  readonly date: string | null
}

/**
 * Milliseconds of `Retry-After` (RFC 9110 section 10.2.3), given as seconds or as a date. Null when it is absent or
 * invalid. A date refers to the server's clock, which `date` tells.
 */
export function retryAfterMs({ retryAfter, date }: RetryFields, now: number): number | null {
  if (retryAfter === null) return null
  const nowThere = Date.parse(date ?? '')
  const ms = /^\d{1,9}$/.test(retryAfter.trim())
    ? Number(retryAfter) * 1_000
    : Date.parse(retryAfter) - (Number.isNaN(nowThere) ? now : nowThere)
  return Number.isNaN(ms) ? null : Math.min(MAX_RETRY_AFTER_MS, Math.max(0, ms))
}

/**
 * Whether the server says that it will respond later. (502 and 504 come from a proxy and leave open whether the request
 * was executed.)
 */
export function isSaidToBeBusy(status: number, retryAfter: string | null): boolean {
  return status === 429 || (status === 503 && retryAfter !== null)
}

/** Pause before the next attempt: first as requested, then with growing backoff when that was too short. */
export function pauseMs(askedMs: number | null, attempt: number): number {
  return askedMs !== null && attempt === 0 ? askedMs : Math.max(askedMs ?? 0, backoffMs(attempt))
}

/**
 * Whether another access token may help. The contract does not define how reads refuse a token: servers answer 401, or
 * 403 for an expired one.
 */
export function isTokenRefused(status: number): boolean {
  return status === 401 || status === 403
}

/** For a read with a fresh token: whether another session may help. A 403 is then about the requested resource. */
export function isSessionRefused(status: number): boolean {
  return status === 401
}

/**
 * Classifies a status. `busy`: the server will respond later. `broken`: this request fails, but a retry may succeed. A
 * proxy answers 502 and 504 while the server behind it is down. With 408 a server closes an idle connection.
 */
export function kindOfStatus(status: number): 'answer' | 'busy' | 'broken' {
  if (BUSY.has(status)) return 'busy'
  return status >= 500 ? 'broken' : 'answer'
}

/**
 * Whether the connection ended before the answer: servers close idle connections, perhaps while a request is in flight
 * (RFC 9112 section 9.3.1).
 */
export function isConnectionEnded(error: unknown): boolean {
  return CONNECTION_ENDED.has(causeCodeOf(error) ?? '')
}
