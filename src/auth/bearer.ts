// Reads the bearer token of a request (`Authorization: Bearer …`, RFC 6750 section 2.1) and looks up its session.
import type { Awaitable, LiveSession } from '../store/contract.ts'
import type { Caller } from './caller.ts'
import type { Sessions } from './sessions.ts'

const BEARER = /^bearer(?: (.*))?$/is

/** Returns what the client presented as a bearer token, well formed or not; null when it presented none. */
export function bearerToken(caller: Caller): string | null {
  const authorization = caller.header('authorization')
  if (authorization === undefined) return null
  // Fast path: nearly every client writes the header this way, so no regular expression runs.
  if (authorization.startsWith('Bearer e')) return authorization.slice('Bearer '.length)
  // HTTP's optional white space around the value is already gone. Any other white space belongs to the value.
  const match = BEARER.exec(authorization)
  return match ? (match[1] ?? '').replace(/^ +/, '') : null
}

/**
 * Returns the session that a request is signed in with, or null when it presents no token. Throws `INVALID_TOKEN` for a
 * bad token: a bad token is not treated as a missing one.
 */
export function viewerOf(caller: Caller, sessions: Sessions): Awaitable<LiveSession | null> {
  const token = bearerToken(caller)
  return token === null ? null : sessions.viewer(token)
}
