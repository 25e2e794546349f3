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
   * Called once per round. Returns the users whose requests have ended since the last call, and removes them. Starts
   * asking for all others, one after another, unless it still does. Rejects with the error of an ended request.
   */
  readonly next: () => Promise<readonly AskedAside<F>[]>
  /** Waits for the request in flight. */
  readonly end: () => Promise<void>
}

export function createAside<F>(createFindings: () => F, ask: (user: RemoteUser, found: F) => Promise<void>): Aside<F> {
  /** In insertion order. */
  const waiting = new Map<string, RemoteUser>()
  const ended: AskedAside<F>[] = []
  let asking: string | null = null
  let isRunning = false
  let running = Promise.resolve()

  /** Not one user per round: a server that often fails for somebody would add users faster than that. */
  async function askAll(): Promise<void> {
    for (let [user] = waiting.values(); user; [user] = waiting.values()) {
      const { email } = user
      waiting.delete(email)
      asking = email
      const found = createFindings()
      await ask(user, found)
      ended.push({ email, found })
    }
  }

  return {
    add: (user) => void waiting.set(user.email, user),
    remove: (email) => void waiting.delete(email),
    has: (email) => waiting.has(email) || asking === email,
    isAsking: (email) => asking === email,
    async next() {
      if (!isRunning) {
        await running
        isRunning = true
        running = askAll().finally(() => {
          asking = null
          isRunning = false
        })
        // The next round reports the error.
        running.catch(() => {})
      }
      return ended.splice(0)
    },
    async end() {
      waiting.clear()
      await running.catch(() => {})
    },
  }
}
