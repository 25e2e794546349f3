// Ends sessions at the gateway. A failed request is retried, unless it is refused for good, and once more when the page
// is left, because the session lives until a request succeeds.
import { isOwnAnswer, type Login } from './login.ts'

/** `refused`: no further attempt is made. `due`: another attempt follows. */
export type Tried = 'ended' | 'refused' | 'due'

/** Resolves after the first attempt. `onTried` is called with the result of every attempt. */
export type EndAtGateway = (refreshToken: string, onTried?: (tried: Tried) => void) => Promise<void>

const RETRY_MS = 5_000
/** The 4xx statuses that ask the client to retry later. */
const LATER: readonly number[] = [408, 429]

export function createEndAtGateway(post: Login['post'], onLeave: (run: () => void) => void): EndAtGateway {
  const unended = new Set<string>()

  // `keepalive` lets a request in flight complete after the page is left.
  function send(refreshToken: string): Promise<Response | null> {
    return post('/logout', { refreshToken }, { method: 'DELETE', keepalive: true }).catch(() => null)
  }

  onLeave(() => {
    for (const refreshToken of unended) void send(refreshToken)
  })

  async function attempt(refreshToken: string, onTried: (tried: Tried) => void): Promise<void> {
    const tried = await triedBy(await send(refreshToken))
    if (tried === 'due') setTimeout(() => void attempt(refreshToken, onTried), RETRY_MS)
    else unended.delete(refreshToken)
    onTried(tried)
  }

  return (refreshToken, onTried = () => {}) => {
    unended.add(refreshToken)
    return attempt(refreshToken, onTried)
  }
}

async function triedBy(answer: Response | null): Promise<Tried> {
  if (answer === null) return 'due'
  if (answer.ok || answer.status === 401) return (await isOwnAnswer(answer).catch(() => false)) ? 'ended' : 'due'
  return isRefusedForGood(answer) ? 'refused' : 'due'
}

/** Whether the same request would be refused again. */
export function isRefusedForGood({ status }: Pick<Response, 'status'>): boolean {
  return status >= 400 && status < 500 && !LATER.includes(status)
}
