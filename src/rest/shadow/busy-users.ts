// Remembers for which users the old server has said that it is busy, and until when.
import { LRUCache } from 'lru-cache'
import { isSaidToBeBusy, retryAfterMs } from '../../import-export/remote/retry.ts'
import { OldBusyError } from './old-errors.ts'

/** The shortest pause after the old server has reported that it is busy. */
const MIN_BUSY_MS = 1_000

/** What was asked on behalf of a user. */
export interface Asked {
  readonly email: string
  /** Method and path, for messages. */
  readonly name: string
  readonly isSignIn: boolean
}

export interface BusyUsers {
  /** Throws `OldBusyError` while the old server is busy for this user. */
  readonly requireFree: (email: string) => void
  /**
   * Throws `OldBusyError` for a response that says so. Remembers it for the user, unless it is the 503 of a read, which
   * may concern only that path.
   */
  readonly unlessBusy: (asked: Asked, response: Response) => Promise<Response>
}

export function createBusyUsers(maxUsers: number): BusyUsers {
  /** Keyed by email: a rate limit is taken to apply to this user only, so other users are still read. */
  const busy = new LRUCache<string, OldBusyError>({ max: maxUsers })

  return {
    requireFree(email) {
      const told = busy.get(email)
      if (told) throw new OldBusyError(told.message, busy.getRemainingTTL(email))
    },
    async unlessBusy({ email, name, isSignIn }, response) {
      const { status, headers } = response
      const told = { retryAfter: headers.get('retry-after'), date: headers.get('date') }
      if (!isSaidToBeBusy(status, told.retryAfter)) return response
      await response.body?.cancel()
      const ms = Math.max(MIN_BUSY_MS, Math.ceil(retryAfterMs(told, Date.now()) ?? 0))
      const error = new OldBusyError(`${name} answered ${status}`, ms)
      if (isSignIn || status === 429) busy.set(email, error, { ttl: ms })
      throw error
    },
  }
}
