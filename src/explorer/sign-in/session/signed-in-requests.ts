// Sends requests with the access token of the signed-in user; it never sends a request of one user with another's
// token.
import type { HeldToken } from './tokens.ts'

export interface Holder {
  readonly held: () => HeldToken | null
  readonly refresh: () => Promise<void>
}

type Send = (path: string, init?: RequestInit) => Promise<Response>

/** The function that it returns renews the token before it expires, and once after a 401. */
export function signedInRequests({ held, refresh }: Holder, fetchFrom: typeof fetch, basePath: string): Send {
  function authorized(path: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers)
    const used = held()
    if (used && !headers.has('authorization')) headers.set('authorization', `Bearer ${used.accessToken}`)
    return fetchFrom(`${basePath}${path}`, { ...init, headers })
  }

  return async (path, init = {}) => {
    // A token that the person typed in is not replaced after a 401.
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
}
