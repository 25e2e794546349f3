// Requests with the access token of whoever is signed in: one person's is never sent as the next one's.
import type { HeldToken } from './tokens.ts'

export interface Holder {
  readonly held: () => HeldToken | null
  readonly refresh: () => Promise<void>
}

type Send = (path: string, init: RequestInit) => Promise<Response>

export interface SignedInRequests {
  /** With the token as it is. */
  readonly authorized: Send
  /** Renews the token before it ends, and once when it is refused. */
  readonly send: Send
}

export function signedInRequests(
  { held, refresh }: Holder,
  fetchFrom: typeof fetch,
  basePath: string,
): SignedInRequests {
  function authorized(path: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers)
    const used = held()
    if (used && !headers.has('authorization')) headers.set('authorization', `Bearer ${used.accessToken}`)
    return fetchFrom(`${basePath}${path}`, { ...init, headers })
  }

  async function send(path: string, init: RequestInit): Promise<Response> {
    // A token that the user typed in is not replaced when it is refused.
    if (new Headers(init.headers).has('authorization')) return authorized(path, init)
    const first = held()
    if (first && Date.now() >= first.renewAt) await refresh()
    const used = held()
    if (used && used.email !== first?.email) throw new Error('Somebody else has signed in: this was not sent.')
    const answer = await authorized(path, init)
    if (answer.status !== 401 || used === null) return answer
    if (held() === used) await refresh()
    const next = held()
    return next && next !== used && next.email === used.email ? authorized(path, init) : answer
  }

  return { authorized, send }
}
