// A client of the old server that reads there as a user: it signs in with the user's email, as the contract defines.
import { isSessionRefused, isTokenRefused } from '../../import-export/remote/retry.ts'
import { createBusyUsers } from './busy-users.ts'
import { ANSWER_MS, type OldAnswer, sendAgain, toOldAnswer } from './old-answer.ts'
import { createOldSessions, type OldServerAddress, type Tokens } from './old-sessions.ts'

/** Users signed in on the old server. Beyond this number the least recently used session is signed out. */
const MAX_USERS = 10_000

export interface OldServer extends AsyncDisposable {
  /**
   * Returns the answer to a read of this user; the caller reads the body or cancels it. Throws `OldSignInError`,
   * `OldAwayError`, and what `sendRequest` throws.
   */
  readonly read: (email: string, request: OldRead) => Promise<OldAnswer>
}

export interface OldRead {
  readonly method: 'GET' | 'HEAD'
  /** Path and query. */
  readonly target: string
  /** Header fields by lower-case name. */
  readonly conditions?: Readonly<Record<string, string>>
  /** Aborts the body too. */
  readonly signal: AbortSignal
}

/**
 * Disposing of it signs all users out. `stop` aborts the requests in flight. `onFailure` receives what `read` throws,
 * unless the caller or `stop` aborted it.
 */
export function createOldServer(
  address: OldServerAddress,
  stop: AbortSignal,
  onFailure: (error: unknown) => void,
): OldServer {
  const { url, headers } = address
  const busy = createBusyUsers(MAX_USERS)
  const sessions = createOldSessions(address, MAX_USERS, busy, stop)

  async function send(
    email: string,
    { accessToken }: Tokens,
    { method, target, conditions, signal }: OldRead,
  ): Promise<OldAnswer> {
    const slow = new AbortController()
    const giveUp = () => slow.abort(new Error('no answer in time'))
    const timer = setTimeout(giveUp, ANSWER_MS)
    try {
      const name = `${method} ${target.split('?')[0]}`
      // A `#` belongs to the query, as for this gateway. `URL` would cut it off, with what follows.
      const response = await sendAgain(`${url}${target.replaceAll('#', '%23')}`, {
        method,
        headers: {
          ...headers,
          authorization: `Bearer ${accessToken}`,
          'accept-encoding': 'identity',
          ...conditions,
        },
        signal: AbortSignal.any([signal, stop, slow.signal]),
      })
      return toOldAnswer(await busy.unlessBusy({ email, name, isSignIn: false }, response), giveUp)
    } finally {
      clearTimeout(timer)
    }
  }

  async function sendAs(email: string, request: OldRead): Promise<OldAnswer> {
    busy.requireFree(email)
    const used = sessions.of(email)
    const first = await send(email, await used, request)
    if (!isTokenRefused(first.status)) return first
    await first.cancel()
    const renewed = sessions.renew(email, used)
    const second = await send(email, await renewed, request)
    if (!isSessionRefused(second.status)) return second
    await second.cancel()
    return send(email, await sessions.reopen(email, renewed), request)
  }

  return {
    async read(email, request) {
      try {
        return await sendAs(email, request)
      } catch (error) {
        if (!stop.aborted && !request.signal.aborted) onFailure(error)
        throw error
      }
    },
    [Symbol.asyncDispose]: sessions[Symbol.asyncDispose],
  }
}
