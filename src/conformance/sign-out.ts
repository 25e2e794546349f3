// Ends the sessions that a run has opened.
import { CannotTellError } from './cannot-tell.ts'
import { NoAnswerError, type ProbeAnswer, type ProbeRequest } from './exchange.ts'

type Send = (request: ProbeRequest) => Promise<ProbeAnswer>

/** Returns how many of the sessions are still open, or may be. */
export async function signOut(send: Send, refreshTokens: Iterable<string>): Promise<number> {
  let open = 0
  for (const refreshToken of refreshTokens) {
    if (!(await isEnded(send, refreshToken))) open += 1
  }
  return open
}

async function isEnded(send: Send, refreshToken: string): Promise<boolean> {
  const body = { refreshToken }
  try {
    const { status } = await send({ method: 'DELETE', path: '/logout', body })
    if (status < 300) return true
    // Either the session has ended before, or the token did not arrive, because proxies drop the body of a DELETE.
    return [400, 401].includes((await send({ method: 'POST', path: '/token', body })).status)
  } catch (error) {
    if (error instanceof NoAnswerError || error instanceof CannotTellError) return false
    throw error
  }
}
