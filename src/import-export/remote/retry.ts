// When to ask another server again: after how long, and whether with another access token.

const FIRST_BACKOFF_MS = 250
const MAX_BACKOFF_MS = 15_000
/** Longer ones are cut: the next answer says again how long. */
const MAX_RETRY_AFTER_MS = 300_000
const BUSY = new Set([408, 429, 502, 503, 504])

/** Exponential with jitter: between half of it and all of it, so that clients that failed together do not come together. */
export function backoffMs(attempt: number): number {
  const whole = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** attempt)
  return whole / 2 + (Math.random() * whole) / 2
}

/** Header fields of an answer, as they came; null for those it has not. */
export interface RetryFields {
  readonly retryAfter: string | null
  readonly date: string | null
}

/**
 * Of `Retry-After` (RFC 9110 section 10.2.3), seconds or a date; null for none, or one that cannot be read. A date is one of the
 * clock there, which `date` tells.
 */
export function retryAfterMs({ retryAfter, date }: RetryFields, now: number): number | null {
  if (retryAfter === null) return null
  const nowThere = Date.parse(date ?? '')
  const ms = /^\d{1,9}$/.test(retryAfter.trim())
    ? Number(retryAfter) * 1_000
    : Date.parse(retryAfter) - (Number.isNaN(nowThere) ? now : nowThere)
  return Number.isNaN(ms) ? null : Math.min(MAX_RETRY_AFTER_MS, Math.max(0, ms))
}

/** The server says that it answers later. (502 and 504 are of a proxy, and leave open whether the request was done.) */
export function isSaidToBeBusy(status: number, retryAfter: string | null): boolean {
  return status === 429 || (status === 503 && retryAfter !== null)
}

/** Before the next attempt: at first as long as was asked for, then longer and longer where that was too short. */
export function pauseMs(askedMs: number | null, attempt: number): number {
  return askedMs !== null && attempt === 0 ? askedMs : Math.max(askedMs ?? 0, backoffMs(attempt))
}

/** Whether another access token may help. The contract does not say how reads refuse one: servers answer 401, or 403 to one that ran out. */
export function isTokenRefused(status: number): boolean {
  return status === 401 || status === 403
}

/** Of a read with a token that was just renewed: whether another session may help. 403 is about what was asked for then. */
export function isSessionRefused(status: number): boolean {
  return status === 401
}

/**
 * How a status is to be taken. `busy`: it will answer later. `broken`: this request fails there, perhaps not the next time.
 * 502 and 504 are what a proxy answers while the server behind it is away; 408 closes a connection that it had enough of.
 */
export function kindOfStatus(status: number): 'answer' | 'busy' | 'broken' {
  if (BUSY.has(status)) return 'busy'
  return status >= 500 ? 'broken' : 'answer'
}
