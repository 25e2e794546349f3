// Caches sessions, which this process may use for a bounded time without asking the database again.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { batchPerTurn } from '../store/batch-per-turn.ts'
import type { Awaitable } from '../store/contract.ts'
import type { LiveSession, OwnedSession } from '../store/session-contract.ts'
import { ageMs, type Instant, now } from './age.ts'
import { repeatInBackground } from './repeat-in-background.ts'

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

interface Seen {
  readonly session: LiveSession
  /** When the lookup began. The state that it saw is no older. */
  readonly at: Instant
  usedAt: Instant
}

const MAX_KEPT = 100_000
const SESSIONS_PER_LOOKUP = 1_000
/** Maximum number of sessions that are walked over in one turn of the event loop: about half a millisecond. */
const SESSIONS_PER_TURN = 1_000
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
  /** The ids of `seen`: unlike the cache itself, a set can be walked in pieces while it changes. */
  const ids = new Set<string>()
  const seen = new LRUCache<string, Seen>({
    max: MAX_KEPT,
    dispose(_, id, reason) {
      if (reason !== 'set') ids.delete(id)
    },
  })
  /**
   * When this process ended sessions, by session id or email. A lookup that began before that may complete after it.
   */
  const ended = new LRUCache<string, number>({ max: MAX_KEPT })
  const lookUp = batchPerTurn(look, setImmediate)

  function isRecent(since: Instant): boolean {
    return ageMs(since, clock) <= maxAgeMs
  }

  async function look(asked: readonly string[]): Promise<readonly (LiveSession | null)[]> {
    const at = now(clock)
    const found = await load(asked)
    for (const [index, id] of asked.entries()) keep(id, found[index] ?? null, at)
    return found
  }

  function keep(id: string, session: LiveSession | null, at: Instant): void {
    const known = seen.peek(id)
    if (known && known.at.monotonic > at.monotonic) return
    const isEnded = !session || wasEnded(id, at) || wasEnded(session.email, at)
    if (isEnded) seen.delete(id)
    else {
      seen.set(id, { session, at, usedAt: known?.usedAt ?? at })
      ids.add(id)
    }
  }

  function wasEnded(key: string, at: Instant): boolean {
    return (ended.get(key) ?? Number.NEGATIVE_INFINITY) >= at.monotonic
  }

  /**
   * Looks up the recently used sessions again, and drops those that are unused or ended. While the database does not
   * answer, the cached sessions only get older.
   */
  async function refresh(isStopping: () => boolean): Promise<void> {
    const used: string[] = []
    let walked = 0
    for (const id of ids) {
      walked += 1
      if (walked % SESSIONS_PER_TURN === 0) await nextTurn()
      if (isInUse(id)) used.push(id)
    }
    for (let start = 0; start < used.length && !isStopping(); start += SESSIONS_PER_LOOKUP) {
      await look(used.slice(start, start + SESSIONS_PER_LOOKUP))
    }
  }

  function isInUse(id: string): boolean {
    const known = seen.peek(id)
    if (!known) return false
    const { session, at, usedAt } = known
    const isEnded = wasEnded(session.email, at)
    if (!isEnded && isRecent(usedAt)) return true
    if (isEnded || !isRecent(at)) seen.delete(id)
    return false
  }

  // Its errors may be ignored: a request for a session that is too old makes its own lookup and gets the error.
  repeatInBackground(refresh, Math.min(maxAgeMs / LOOKS, LONGEST_PAUSE_MS), running)

  return {
    find(id) {
      const known = seen.get(id)
      if (!known || !isRecent(known.at) || wasEnded(known.session.email, known.at)) return lookUp(id)
      known.usedAt = now(clock)
      return known.session
    },
    forget(sessions) {
      for (const { id } of sessions) {
        ended.set(id, performance.now())
        seen.delete(id)
      }
    },
    forgetAllOf(email) {
      // `find` no longer uses its sessions, and the next walk drops them: to find them here would stop all requests.
      ended.set(email, performance.now())
    },
  }
}
