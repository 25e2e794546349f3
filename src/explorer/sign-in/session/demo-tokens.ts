// Gets tokens for the demo user's session, which all pages of a browser share.
import type { KeptSession } from './kept-session.ts'
import { failureOf, type Login, withToken } from './login.ts'
import { isRefusedForGood } from './session-ends.ts'
import type { TabChannel } from './tab-channel.ts'
import type { Tokens } from './tokens.ts'

interface DemoOptions extends Pick<Login, 'post' | 'login'>, Pick<TabChannel, 'alone'> {
  readonly kept: KeptSession
  readonly email: string
  /** Ends a session that no tab uses. */
  readonly end: (refreshToken: string) => void
}

/**
 * Reuses the session that an earlier page opened, as long as it lasts. One session per page load would soon exceed the
 * user's session limit and end the session of another tab. One tab at a time does this, so that tabs that are opened at
 * the same moment share a session too.
 */
export function demoTokens({ kept, post, login, alone, email, end }: DemoOptions): Promise<Tokens> {
  /** Resolves to null for a session that has ended. Throws if the gateway cannot say, because the session may last. */
  async function renewed(refreshToken: string): Promise<Tokens | null> {
    const answer = await post('/token', { refreshToken })
    if (answer.ok) return { ...(await withToken(answer)), refreshToken }
    if (isRefusedForGood(answer)) return null
    throw await failureOf(answer)
  }

  return alone(async () => {
    const presented = kept.demoToken()
    const reused = presented === null ? null : await renewed(presented)
    if (reused) return reused
    const opened = await login(email)
    // Another tab may have stored a session meanwhile: in a browser without locks, or if its write arrived late.
    const stored = kept.demoToken()
    const shared = stored === null || stored === presented ? null : await renewed(stored).catch(() => null)
    if (shared) {
      end(opened.refreshToken)
      return shared
    }
    // Stored before the next tab has its turn.
    kept.keepDemo(opened.refreshToken)
    return opened
  })
}
