// Whether users who get no answer mean that the server is away, or that it has something of theirs that it cannot answer.

/** So many in a row, or all of a round: the server is away. */
const USERS_OF_OUTAGE = 3

export interface Unanswered<T> {
  /** Whether so many, of `users` in the round, got no answer since the last one who did that the server is away. */
  readonly add: (failed: T, users: number) => boolean
  /** Those who got none since then. To be called when somebody is answered: they failed by themselves. */
  readonly takeAll: () => readonly T[]
}

export function createUnanswered<T>(): Unanswered<T> {
  const unanswered: T[] = []
  return {
    add: (failed, users) => unanswered.push(failed) >= Math.min(USERS_OF_OUTAGE, users),
    takeAll: () => unanswered.splice(0),
  }
}
