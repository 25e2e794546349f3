// The `fetch` of the guide for frontends, which renews an access token that has ended.

export interface Tokens {
  accessToken: string
  readonly refreshToken: string
}

/** `signOut` is told that the session has ended: only a login helps. */
export function createSignedInFetch(gateway: string, tokens: Tokens, signOut: () => void): typeof fetch {
  let renewing: Promise<void> | undefined

  async function renew() {
    const body = JSON.stringify({ refreshToken: tokens.refreshToken })
    const headers = { 'content-type': 'application/json' }
    const renewed = await fetch(`${gateway}/token`, { method: 'POST', headers, body })
    if (renewed.ok) tokens.accessToken = (await renewed.json()).accessToken
    if (renewed.status === 401) signOut()
  }

  return async function signedInFetch(input, init) {
    const send = () => {
      const headers = new Headers(init?.headers)
      headers.set('authorization', `Bearer ${tokens.accessToken}`)
      return fetch(input, { ...init, headers })
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
    return send()
  }
}
