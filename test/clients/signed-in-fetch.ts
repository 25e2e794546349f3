// The `fetch` wrapper of the guide for frontends: it renews an expired access token.

export interface Tokens {
  accessToken: string
  readonly refreshToken: string
}

/** Calls `signOut` when the session has ended, because then only a new login helps. */
export function createSignedInFetch(gateway: string, tokens: Tokens, signOut: () => void): typeof fetch {
  let renewing: Promise<void> | undefined

  async function renew() {
    const body = JSON.stringify({ refreshToken: tokens.refreshToken })
    const headers = { 'content-type': 'application/json' }
    const renewed = await fetch(`${gateway}/token`, { method: 'POST', headers, body })
    if (renewed.ok) tokens.accessToken = (await renewed.json()).accessToken
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
    const sent = tokens.accessToken
    const response = await send()
    if (response.status !== 401) return response
    if (tokens.accessToken === sent) {
      renewing ??= renew().finally(() => {
        renewing = undefined
      })
      await renewing
    }
    return tokens.accessToken === sent ? response : send()
  }
}
