// Tokens of the demo user's session, which all pages of a browser share.
import type { KeptSession } from './kept-session.ts'
import type { Login } from './login.ts'
import type { Tokens } from './tokens.ts'

/** Of the session that an earlier page has opened, while it lasts: with one for each load, a user would soon have too many, and another tab's would be ended. */
export async function demoTokens(kept: KeptSession, { post, login }: Login, email: string): Promise<Tokens> {
  const presented = kept.demoToken()
  if (presented !== null) {
    const answer = await post('/token', { refreshToken: presented })
    if (answer.ok) return { ...((await answer.json()) as Pick<Tokens, 'accessToken'>), refreshToken: presented }
  }
  return login(email)
}
