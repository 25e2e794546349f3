// Caches sessions, which this process may use for a bounded time without asking the database again.
import { LRUCache } from 'lru-cache'
import { batchPerTurn } from '../store/batch-per-turn.ts'
import type { Awaitable } from '../store/contract.ts'
import type { LiveSession, OwnedSession } from '../store/session-contract.ts'

export interface RecentSessionsOptions {
  /** Maximum milliseconds that a session is used after the start of the lookup that saw it. */
  readonly maxAgeMs: number
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** Background work of the process. Disposing it stops the background lookups. */
  readonly running: AsyncDisposableStack
}

export interface RecentSessions {
  /**
   * The session as it was at most `maxAgeMs` ago. Without a cached one that is young enough, fails as the lookup does.
   */
  readonly find: (id: string) => Awaitable<LiveSession | null>
  /** Removes sessions that this process has ended. They are not used from now on. */
  readonly forget: (sessions: readonly OwnedSession[]) => void
  readonly forgetAllOf: (email: string) => void
}

/**
 * Two clocks, of which the greater age counts: the monotonic one stops while the machine sleeps, the wall clock can be
 * set back.
 */
interface Instant {
  readonly monotonic: number
  readonly wall: number
}

interface Seen {
  readonly session: LiveSession
  /** When the lookup began. The state that it saw is no older. */
  readonly at: Instant
  usedAt: Instant
}

const MAX_KEPT = 100_000
const SESSIONS_PER_LOOKUP = 1_000
/** Background lookups within `maxAgeMs`. With several, the cache survives a database outage of nearly `maxAgeMs`. */
const LOOKS = 10
const LONGEST_PAUSE_MS = 1_000

/**
 * `load` returns one session per id, null for one that has ended. Sessions in use are looked up again in the
 * background.
 */
export function createRecentSessions(
  load: (ids: readonly string[]) => Awaitable<readonly (LiveSession | null)[]>,
  { maxAgeMs, clock, running }: RecentSessionsOptions,
): RecentSessions {
  const seen = new LRUCache<string, Seen>({ max: MAX_KEPT })
  /**
   * When this process ended sessions, by session id or email. A lookup that began before that may complete after it.
   */
  const ended = new LRUCache<string, number>({ max: MAX_KEPT })
  const lookUp = batchPerTurn(look, setImmediate)
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  function now(): Instant {
    return { monotonic: performance.now(), wall: clock() }
  }

  function isRecent(since: Instant): boolean {
    const { monotonic, wall } = now()
    return Math.max(monotonic - since.monotonic, wall - since.wall) <= maxAgeMs
  }

  async function look(ids: readonly string[]): Promise<readonly (LiveSession | null)[]> {
    const at = now()
    const found = await load(ids)
    for (const [index, id] of ids.entries()) keep(id, found[index] ?? null, at)
    return found
  }

  function keep(id: string, session: LiveSession | null, at: Instant): void {
    const known = seen.peek(id)
    if (known && known.at.monotonic > at.monotonic) return
    const isEnded = !session || wasEnded(id, at) || wasEnded(session.email, at)
    if (isEnded) seen.delete(id)
    else seen.set(id, { session, at, usedAt: known?.usedAt ?? at })
  }

  function wasEnded(key: string, at: Instant): boolean {
    return (ended.get(key) ?? Number.NEGATIVE_INFINITY) >= at.monotonic
  }

  /**
   * Looks up the recently used sessions again. While the database does not answer, the cached sessions only get older.
   */
  async function refresh(): Promise<void> {
    const ids: string[] = []
    const unused: string[] = []
    for (const [id, { usedAt, at }] of seen.entries()) {
      if (isRecent(usedAt)) ids.push(id)
      else if (!isRecent(at)) unused.push(id)
    }
    // Not deleted within the loop: when the oldest entry is deleted, the iterator begins again.
    for (const id of unused) seen.delete(id)
    for (let start = 0; start < ids.length && !isClosed; start += SESSIONS_PER_LOOKUP) {
      await look(ids.slice(start, start + SESSIONS_PER_LOOKUP))
    }
  }

  function next(): void {
    if (isClosed) return
    timer = setTimeout(
      () => {
        // Errors are ignored here: a request for a session that is too old makes its own lookup and gets the error.
        refresh().then(next, next)
      },
      Math.min(maxAgeMs / LOOKS, LONGEST_PAUSE_MS),
    ).unref()
  }

  next()
  running.defer(() => {
    isClosed = true
    clearTimeout(timer)
  })

  return {
    find(id) {
      const known = seen.get(id)
      if (!known || !isRecent(known.at)) return lookUp(id)
      known.usedAt = now()
      return known.session
    },
    forget(sessions) {
      for (const { id } of sessions) {
        ended.set(id, performance.now())
        seen.delete(id)
      }
    },
    forgetAllOf(email) {
      ended.set(email, performance.now())
      for (const [id, { session }] of seen.entries()) if (session.email === email) seen.delete(id)
    },
  }
}
