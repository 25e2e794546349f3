// Keeps users here what they are on another server: round after round each is asked for what has changed.
import { StoreUnavailableError } from '../../store/contract.ts'
import { ContractError, OutageError } from './client.ts'
import { eachOf } from './each-user.ts'
import type { MoveInOptions, RemoteUser } from './move-in.ts'
import { type SeenWorkspace, seenInStore } from './seen-workspace.ts'
import { createRemoteSession, type RemoteSession } from './session.ts'
import { takeIn } from './take-in.ts'

/** Rounds in a row that find no workspace before the one here is removed: a server that starts may have nothing yet. */
const ROUNDS_TO_REMOVE = 2

/** What became of the users of one round. */
export interface Round {
  readonly users: number
  readonly changed: number
  readonly unchanged: number
  /** Users without a workspace there. */
  readonly missing: number
  readonly failed: number
  /** Documents and exports. */
  readonly added: number
  readonly replaced: number
  readonly removed: number
  /** Why it was given up, in a sentence: the users that were left count as failed. Null for a whole round. */
  readonly outage: string | null
  readonly seconds: number
  /** How old the oldest state is that a user is known to be equal to, or the start where there is none. */
  readonly lagSeconds: number
}

export interface Follower extends AsyncDisposable {
  /** Those who are not named any more are forgotten. Throws what is nobody's outage, and the reason of `stop`. */
  readonly round: (users: readonly RemoteUser[]) => Promise<Round>
  /** As of a round, at this moment. */
  readonly lagSeconds: () => number
}

export interface FollowOptions extends Omit<MoveInOptions, 'isReplacement'> {
  /** Told once for each failure of a user, not again while it stays the same. */
  readonly onFailed: (user: RemoteUser, error: ContractError) => void
  /** Told after each user of a round how many it has been through. */
  readonly onUser?: (done: number) => void
}

interface Followed {
  readonly session: RemoteSession
  /** What was there last, null before the first time. */
  seen: SeenWorkspace | null
  /** Milliseconds since the epoch: nothing was missing here of what was there then. */
  inStepAt: number
  missingRounds: number
  failure: string
}

type Outcome = 'changed' | 'unchanged' | 'missing'
type Counts = Record<'changed' | 'unchanged' | 'missing' | 'failed' | 'added' | 'replaced' | 'removed', number>

/** Signs out everywhere when it is disposed of. */
export function createFollower(options: FollowOptions): Follower {
  const { client, store, concurrency, clock, stop, onFailed, onUser } = options
  const followed = new Map<string, Followed>()
  const start = clock()

  function requireFollowed({ email, login }: RemoteUser): Followed {
    const known = followed.get(email)
    if (known) return known
    const session = createRemoteSession(client, login)
    const added = { session, seen: null, inStepAt: start, missingRounds: 0, failure: '' }
    followed.set(email, added)
    return added
  }

  async function step({ email }: RemoteUser, one: Followed, counts: Counts): Promise<Outcome> {
    const at = clock()
    const before = one.seen ?? (await seenInStore(store, email))
    const taken = await takeIn(email, one.session, before, { ...options, isReplacement: true })
    one.missingRounds = taken.type === 'missing' ? one.missingRounds + 1 : 0
    if (taken.type === 'missing') {
      const isHere = (await store.userByEmail(email)) !== null
      if (isHere && one.missingRounds < ROUNDS_TO_REMOVE) return 'missing'
      if (isHere) await store.applyChanges([{ type: 'removeUser', email }])
      one.seen = null
    } else {
      one.seen = taken.seen
    }
    if (taken.type === 'changed') {
      for (const name of ['added', 'replaced', 'removed'] as const) counts[name] += taken.counts[name]
    }
    one.inStepAt = at
    one.failure = ''
    return taken.type
  }

  function note(user: RemoteUser, one: Followed, error: ContractError): void {
    if (one.failure !== error.message) onFailed(user, error)
    one.failure = error.message
  }

  async function forget(users: readonly RemoteUser[]): Promise<void> {
    const named = new Set(users.map(({ email }) => email))
    for (const [email, { session }] of followed) {
      if (named.has(email)) continue
      followed.delete(email)
      await session.close()
    }
  }

  function lagSeconds(): number {
    const now = clock()
    let oldest = now
    for (const { inStepAt } of followed.values()) oldest = Math.min(oldest, inStepAt)
    return (now - oldest) / 1_000
  }

  return {
    lagSeconds,
    async round(users) {
      const began = clock()
      let done = 0
      const counts: Counts = { changed: 0, unchanged: 0, missing: 0, failed: 0, added: 0, replaced: 0, removed: 0 }
      let outage: string | null = null
      await forget(users)
      await eachOf(users, concurrency, async (user) => {
        stop.throwIfAborted()
        const one = requireFollowed(user)
        if (outage !== null) {
          counts.failed += 1
          return
        }
        try {
          counts[await step(user, one, counts)] += 1
        } catch (error) {
          counts.failed += 1
          if (error instanceof OutageError || error instanceof StoreUnavailableError) outage = error.message
          else if (error instanceof ContractError) note(user, one, error)
          else throw error
        }
        done += 1
        onUser?.(done)
      })
      return { users: users.length, ...counts, outage, seconds: (clock() - began) / 1_000, lagSeconds: lagSeconds() }
    },
    async [Symbol.asyncDispose]() {
      await eachOf(followed.values(), concurrency, ({ session }) => session.close())
    },
  }
}
