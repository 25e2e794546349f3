// Ends sessions at the gateway. What does not arrive is sent again, unless it is refused for good, and once more as the page is left: until then the session lives on.
import type { Login } from './login.ts'

/** Of a session that is `refused` the gateway will not be asked again, of one that is `due` it will. */
export type Tried = 'ended' | 'refused' | 'due'

/** Resolves with the first answer; `onTried` is told after each attempt what has become of the session. */
export type EndAtGateway = (refreshToken: string, onTried?: (tried: Tried) => void) => Promise<void>

const RETRY_MS = 5_000
/** Of refusals, those that say: later. */
const LATER: readonly number[] = [408, 429]

export function createEndAtGateway(post: Login['post'], onLeave: (run: () => void) => void): EndAtGateway {
  const unended = new Set<string>()

  // A request that is under way as the page is left goes on.
  function send(refreshToken: string): Promise<Response | null> {
    return post('/logout', { refreshToken }, { method: 'DELETE', keepalive: true }).catch(() => null)
  }

  onLeave(() => {
    for (const refreshToken of unended) void send(refreshToken)
  })

  async function attempt(refreshToken: string, onTried: (tried: Tried) => void): Promise<void> {
    const tried = triedBy(await send(refreshToken))
    if (tried === 'due') setTimeout(() => void attempt(refreshToken, onTried), RETRY_MS)
    else unended.delete(refreshToken)
    onTried(tried)
  }

  return (refreshToken, onTried = () => {}) => {
    unended.add(refreshToken)
    return attempt(refreshToken, onTried)
  }
}

function triedBy(answer: Response | null): Tried {
  if (answer?.ok || answer?.status === 401) return 'ended'
  const isRefused = answer !== null && answer.status >= 400 && answer.status < 500 && !LATER.includes(answer.status)
  return isRefused ? 'refused' : 'due'
}
