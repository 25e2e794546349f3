// The `fetch` wrapper of the guide for frontends: it renews an expired access token.

export interface Tokens {
  accessToken: string
  refreshToken: string
}

/** Calls `signOut` when the session has ended, because then only a new login helps. */
export function createSignedInFetch(gateway: string, tokens: Tokens, signOut: () => void): typeof fetch {
  let renewing: Promise<void> | undefined

  async function renew() {
    const { refreshToken } = tokens
    const body = JSON.stringify({ refreshToken })
    const headers = { 'content-type': 'application/json' }
    const renewed = await fetch(`${gateway}/token`, { method: 'POST', headers, body })
    const accessToken: string | null = renewed.ok ? (await renewed.json()).accessToken : null
    // Somebody else may have signed in meanwhile.
    if (tokens.refreshToken !== refreshToken) return
    if (accessToken) tokens.accessToken = accessToken
    if (renewed.status === 401) signOut()
  }

  return async function signedInFetch(...[input, init]: Parameters<typeof fetch>) {
    // Clients such as ky pass a `Request`, with its own headers and a body that can be read once.
    const request = new Request(input, init)
    const send = () => {
      const attempt = request.clone()
      attempt.headers.set('authorization', `Bearer ${tokens.accessToken}`)
      return fetch(attempt)
    }
    const { accessToken, refreshToken } = tokens
    const response = await send()
    if (response.status !== 401) return response
    if (tokens.accessToken === accessToken) {
      renewing ??= renew().finally(() => {
        renewing = undefined
      })
      await renewing
    }
    const isRenewed = tokens.accessToken !== accessToken && tokens.refreshToken === refreshToken
    return isRenewed ? send() : response
  }
}
