// Renews the access token before it expires. Concurrent callers share one renewal, and a failed one is retried later.
import { isOwnAnswer, type Login, withToken } from './login.ts'
import type { TabChannel } from './tab-channel.ts'
import type { HeldToken } from './tokens.ts'

export interface Renewal {
  /**
   * Renews the access token. Calls `onEnded` if the gateway has ended the session. After any other failure it keeps the
   * state and schedules a retry.
   */
  readonly refresh: () => Promise<void>
  /** Schedules the next renewal, in milliseconds since the epoch, and cancels the previous schedule. */
  readonly plan: (at: number) => void
  readonly stop: () => void
}

export interface Renewed {
  readonly post: Login['post']
  readonly alone: TabChannel['alone']
  readonly refreshToken: () => string | null
  readonly held: () => HeldToken | null
  readonly onRenewed: (accessToken: string) => void
  readonly onEnded: (refreshToken: string) => void
}

const RETRY_MS = 5_000

export function createRenewal({ post, alone, refreshToken, held, onRenewed, onEnded }: Renewed): Renewal {
  let refreshing: Promise<void> | null = null
  let timer = 0

  function plan(at: number): void {
    clearTimeout(timer)
    timer = Number(setTimeout(() => void refresh(), Math.max(0, at - Date.now())))
  }

  function refresh(): Promise<void> {
    const before = held()
    refreshing ??= alone(async () => {
      // Another tab may have renewed the token while this one waited for the lock.
      if (before === null || held() === before) await renew()
    }).finally(() => {
      refreshing = null
    })
    return refreshing
  }

  async function renew(): Promise<void> {
    const presented = refreshToken()
    if (presented === null) return
    const answer = await post('/token', { refreshToken: presented }).catch(() => null)
    const renewed = answer?.ok ? await withToken(answer).catch(() => null) : null
    const isEnded = answer?.status === 401 && (await isOwnAnswer(answer).catch(() => false))
    if (refreshToken() !== presented) return
    if (renewed) onRenewed(renewed.accessToken)
    else if (isEnded) onEnded(presented)
    else plan(Date.now() + RETRY_MS)
  }

  return { refresh, plan, stop: () => clearTimeout(timer) }
}
