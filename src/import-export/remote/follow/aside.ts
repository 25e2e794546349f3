// Users whom the other server did not answer: asked beside the rounds, one at a time, so that nobody else waits for them.
import type { RemoteUser } from '../move-in.ts'

/** One user who was asked, and what that found. */
export interface AskedAside<F> {
  readonly email: string
  readonly found: F
}

export interface Aside<F> {
  /** From the next round on. */
  readonly add: (user: RemoteUser) => void
  readonly remove: (email: string) => void
  /** Whether the user is none of a round. */
  readonly has: (email: string) => boolean
  readonly isAsking: (email: string) => boolean
  /**
   * To be called once in a round. Answers whoever has been asked since, if anybody, who is no longer here then, and asks the one who
   * has waited for longest. Rejects with what asking threw.
   */
  readonly next: () => Promise<AskedAside<F> | null>
  /** Waits for the one who is asked. */
  readonly end: () => Promise<void>
}

export function createAside<F>(createFindings: () => F, ask: (user: RemoteUser, found: F) => Promise<void>): Aside<F> {
  /** In the order in which they were added. */
  const waiting = new Map<string, RemoteUser>()
  let asking: (AskedAside<F> & { readonly ended: Promise<void> }) | null = null
  let hasEnded = false

  function askNext(): void {
    const [user] = waiting.values()
    if (!user) return
    waiting.delete(user.email)
    const found = createFindings()
    const ended = ask(user, found).finally(() => {
      hasEnded = true
    })
    // It is told by the next round.
    ended.catch(() => {})
    hasEnded = false
    asking = { email: user.email, found, ended }
  }

  return {
    add: (user) => void waiting.set(user.email, user),
    remove: (email) => void waiting.delete(email),
    has: (email) => waiting.has(email) || asking?.email === email,
    isAsking: (email) => asking?.email === email,
    async next() {
      const asked = hasEnded ? asking : null
      if (asked) asking = null
      await asked?.ended
      if (asking === null) askNext()
      return asked
    },
    end: async () => void (await asking?.ended.catch(() => {})),
  }
}
