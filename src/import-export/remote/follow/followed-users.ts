// Keeps the followed users: the session of each at the other server, what was seen there last, and the lag.
import { eachOf } from '../../each-of.ts'
import type { MoveInOptions, RemoteUser } from '../move-in.ts'
import { createRemoteSession } from '../session.ts'
import type { Followed } from './findings.ts'

export interface FollowedUsers {
  /** Adds the user if necessary. */
  readonly ensure: (user: RemoteUser) => Followed
  /** Everything that was there at the time `at` is here. */
  readonly markInStep: (one: Followed, at: number) => void
  /** See `Round`. */
  readonly lagSeconds: () => number | null
  /** Signs out and forgets the users for whom `isKept` is false. Returns their emails. */
  readonly forget: (isKept: (email: string) => boolean) => Promise<readonly string[]>
}

export function createFollowedUsers({
  client,
  concurrency,
}: Pick<MoveInOptions, 'client' | 'concurrency'>): FollowedUsers {
  const followed = new Map<string, Followed>()
  let wasInStep = false

  return {
    ensure({ email, login }) {
      const known = followed.get(email)
      if (known) return known
      const session = createRemoteSession(client, login)
      const added = { session, seen: null, inStepAt: performance.now(), losses: [], failure: '' }
      followed.set(email, added)
      return added
    },
    markInStep(one, at) {
      one.inStepAt = at
      one.losses = []
      one.failure = ''
      wasInStep = true
    },
    lagSeconds() {
      if (!wasInStep) return null
      const now = performance.now()
      let oldest = now
      for (const { inStepAt } of followed.values()) oldest = Math.min(oldest, inStepAt)
      return (now - oldest) / 1_000
    },
    async forget(isKept) {
      const gone = [...followed].filter(([email]) => !isKept(email))
      await eachOf(gone, concurrency, async ([email, { session }]) => {
        followed.delete(email)
        await session.close()
      })
      return gone.map(([email]) => email)
    },
  }
}
