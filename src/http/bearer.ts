// `Authorization: Bearer …`, RFC 6750 section 2.1.
import type { Caller } from '../auth/caller.ts'
import type { Sessions } from '../auth/sessions.ts'
import type { Awaitable, LiveSession } from '../store/contract.ts'

const BEARER = /^bearer(?: (.*))?$/is

/** What was presented as a bearer token, however broken; null when nothing was. */
export function bearerToken(caller: Caller): string | null {
  const authorization = caller.header('authorization')
  if (authorization === undefined) return null
  // As nearly every client writes it, without the cost of a pattern.
  if (authorization.startsWith('Bearer e')) return authorization.slice('Bearer '.length)
  // The white space that HTTP allows around a value is gone by now; any other belongs to the value.
  const match = BEARER.exec(authorization)
  return match ? (match[1] ?? '').replace(/^ +/, '') : null
}

/** The session a request is signed in with, null when it presents no token. Throws `INVALID_TOKEN`: a bad one is not none. */
export function viewerOf(caller: Caller, sessions: Sessions): Awaitable<LiveSession | null> {
  const token = bearerToken(caller)
  return token === null ? null : sessions.viewer(token)
}
