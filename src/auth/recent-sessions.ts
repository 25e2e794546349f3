// Sessions that this process may use for a bounded time without asking the database again.
import { LRUCache } from 'lru-cache'
import { batchPerTurn } from '../store/batch-per-turn.ts'
import type { Awaitable } from '../store/contract.ts'
import type { LiveSession, OwnedSession } from '../store/session-contract.ts'

export interface RecentSessionsOptions {
  /** A session is used for this long after the lookup that saw it began, and not a moment longer. */
  readonly maxAgeMs: number
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** What the process keeps running: the feed ends with it. */
  readonly running: AsyncDisposableStack
}

export interface RecentSessions {
  /** The session as it was at most `maxAgeMs` ago. Fails as the lookup does once nothing younger is known. */
  readonly find: (id: string) => Awaitable<LiveSession | null>
  /** Ended by this process: not used from now on. */
  readonly forget: (sessions: readonly OwnedSession[]) => void
  readonly forgetAllOf: (email: string) => void
}

/** Both clocks count, and the greater age: one stands still while the machine sleeps, the other one can be set back. */
interface Instant {
  readonly monotonic: number
  readonly wall: number
}

interface Seen {
  readonly session: LiveSession
  /** When the lookup began: what it saw is no older. */
  readonly at: Instant
  usedAt: Instant
}

const MAX_KEPT = 100_000
const SESSIONS_PER_LOOKUP = 1_000
/** The feed looks again this many times within `maxAgeMs`, so an outage may last for nearly all of it. */
const LOOKS = 10
const LONGEST_PAUSE_MS = 1_000

/** `load` answers one session per id, null for one that has ended. The sessions in use are looked up again in the background. */
export function createRecentSessions(
  load: (ids: readonly string[]) => Awaitable<readonly (LiveSession | null)[]>,
  { maxAgeMs, clock, running }: RecentSessionsOptions,
): RecentSessions {
  const seen = new LRUCache<string, Seen>({ max: MAX_KEPT })
  /** Of session ids and emails: when this process ended them. A lookup that began before may come back later. */
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

  /** Those that were used lately. While the database does not answer, they grow old, and nothing else happens. */
  async function refresh(): Promise<void> {
    const ids: string[] = []
    for (const [id, { usedAt, at }] of seen.entries()) {
      if (isRecent(usedAt)) ids.push(id)
      else if (!isRecent(at)) seen.delete(id)
    }
    for (let start = 0; start < ids.length && !isClosed; start += SESSIONS_PER_LOOKUP) {
      await look(ids.slice(start, start + SESSIONS_PER_LOOKUP))
    }
  }

  function next(): void {
    if (isClosed) return
    timer = setTimeout(
      () => {
        // A request for an entry that is too old gets the error.
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
