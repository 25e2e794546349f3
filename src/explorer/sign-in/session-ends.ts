// Ends sessions at the gateway. What does not arrive is sent again, and once more as the page is left: until then the session lives on.
import type { Login } from './login.ts'

/** Resolves with the first answer; `onTried` is told after each attempt whether the session is ended. */
export type EndAtGateway = (refreshToken: string, onTried?: (isEnded: boolean) => void) => Promise<void>

const RETRY_MS = 5_000

export function createEndAtGateway(post: Login['post'], onLeave: (run: () => void) => void): EndAtGateway {
  const unended = new Set<string>()

  // A request that is under way as the page is left goes on.
  function send(refreshToken: string): Promise<Response | null> {
    return post('/logout', { refreshToken }, { method: 'DELETE', keepalive: true }).catch(() => null)
  }

  onLeave(() => {
    for (const refreshToken of unended) void send(refreshToken)
  })

  async function attempt(refreshToken: string, onTried: (isEnded: boolean) => void): Promise<void> {
    const answer = await send(refreshToken)
    const isEnded = answer !== null && (answer.ok || answer.status === 401)
    if (isEnded) unended.delete(refreshToken)
    onTried(isEnded)
    if (!isEnded) setTimeout(() => void attempt(refreshToken, onTried), RETRY_MS)
  }

  return (refreshToken, onTried = () => {}) => {
    unended.add(refreshToken)
    return attempt(refreshToken, onTried)
  }
}
