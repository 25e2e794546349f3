// Decides whether missing responses mean that the server is down, or that it fails for single users.

/** After this number of users in a row without a response, or all users of a round, the server counts as down. */
const USERS_OF_OUTAGE = 3

export interface Unanswered<T> {
  /**
   * Adds a user without a response. True when enough of the round's `users` had none since the last response that the
   * server counts as down.
   */
  readonly add: (failed: T, users: number) => boolean
  /** Takes the users without a response. Called when a user gets one: then the others failed by themselves. */
  readonly takeAll: () => readonly T[]
}

export function createUnanswered<T>(): Unanswered<T> {
  const unanswered: T[] = []
  return {
    add: (failed, users) => unanswered.push(failed) >= Math.min(USERS_OF_OUTAGE, users),
    takeAll: () => unanswered.splice(0),
  }
}
