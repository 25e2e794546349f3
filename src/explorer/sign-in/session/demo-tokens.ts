// Gets tokens for the demo user's session, which all pages of a browser share.
import type { KeptSession } from './kept-session.ts'
import type { Login } from './login.ts'
import type { Tokens } from './tokens.ts'

/**
 * Reuses the session that an earlier page opened, as long as it lasts. One session per page load would soon exceed the
 * user's session limit and end the session of another tab.
 */
export async function demoTokens(kept: KeptSession, { post, login }: Login, email: string): Promise<Tokens> {
  const presented = kept.demoToken()
  if (presented !== null) {
    const answer = await post('/token', { refreshToken: presented })
    if (answer.ok) return { ...((await answer.json()) as Pick<Tokens, 'accessToken'>), refreshToken: presented }
  }
  return login(email)
}
