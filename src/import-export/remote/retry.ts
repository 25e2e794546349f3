// When to ask another server again: after how long, and whether with another access token.

const FIRST_BACKOFF_MS = 250
const MAX_BACKOFF_MS = 15_000
/** Longer ones are cut: the next answer says again how long. */
const MAX_RETRY_AFTER_MS = 300_000

/** Exponential with jitter: between half of it and all of it, so that clients that failed together do not come together. */
export function backoffMs(attempt: number): number {
  const whole = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** attempt)
  return whole / 2 + (Math.random() * whole) / 2
}

/** Of `Retry-After` (RFC 9110 section 10.2.3), seconds or a date; null for none, or one that cannot be read. */
export function retryAfterMs(header: string | null, now: number): number | null {
  if (header === null) return null
  const ms = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - now
  return Number.isNaN(ms) ? null : Math.min(MAX_RETRY_AFTER_MS, Math.max(0, ms))
}

/** Whether another access token may help. The contract does not say how reads refuse one: servers answer 401, or 403 to one that ran out. */
export function isTokenRefused(status: number): boolean {
  return status === 401 || status === 403
}

/**
 * How a status is to be taken. `busy`: it will answer later. `broken`: this request fails there, perhaps not the next time.
 * 502 and 504 are what a proxy answers while the server behind it is away.
 */
export function kindOfStatus(status: number): 'answer' | 'busy' | 'broken' {
  if (status === 429 || status === 502 || status === 503 || status === 504) return 'busy'
  return status >= 500 ? 'broken' : 'answer'
}
