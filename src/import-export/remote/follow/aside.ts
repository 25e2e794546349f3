// Retries users for whom the other server gave no response: apart from the rounds and one at a time, so that no other
// user waits for them.
import type { RemoteUser } from '../move-in.ts'

/** The user who was asked, and the findings. */
export interface AskedAside<F> {
  readonly email: string
  readonly found: F
}

export interface Aside<F> {
  /** Adds a user, who is left out of the rounds from the next one on. */
  readonly add: (user: RemoteUser) => void
  readonly remove: (email: string) => void
  /** Whether the user is left out of the rounds. */
  readonly has: (email: string) => boolean
  readonly isAsking: (email: string) => boolean
  /**
   * Called once per round. Returns the user whose request has ended since the last call, if any, and removes that user.
   * Then starts the request for the user who has waited longest. Rejects with the error of the ended request.
   */
  readonly next: () => Promise<AskedAside<F> | null>
  /** Waits for the request in flight. */
  readonly end: () => Promise<void>
}

export function createAside<F>(createFindings: () => F, ask: (user: RemoteUser, found: F) => Promise<void>): Aside<F> {
  /** In insertion order. */
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
    // The next round reports the error.
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
