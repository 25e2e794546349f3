// What a user has lost at the other server, and since when: a loss is believed when it is found again some time later.

/**
 * `workspace`: every list is 404. `documents`: every list is there, and empty. `exports`: those of all projects, which are there, are
 * 404.
 */
export type Loss = 'workspace' | 'documents' | 'exports'

/** Rounds in a row that find it, at least. */
const ROUNDS_TO_BELIEVE = 2
/** When more users than these, and than this part of all, lose the same in one round, the server is at fault. */
const MAX_LOSING = 3
const MAX_LOSING_PART = 0.1

export interface FoundLoss {
  readonly loss: Loss
  readonly rounds: number
  /** When it was found first, by a clock that nobody sets, in milliseconds. */
  readonly since: number
}

/** With what the rounds before have found, null for none or when the user was in step since. */
export function findAgain(before: FoundLoss | null, loss: Loss, at: number): FoundLoss {
  return before?.loss === loss ? { ...before, rounds: before.rounds + 1 } : { loss, rounds: 1, since: at }
}

/** Whether it is believed of one user, at this time. */
export function isBelieved({ rounds, since }: FoundLoss, at: number, afterMs: number): boolean {
  return rounds >= ROUNDS_TO_BELIEVE && at - since >= afterMs
}

/** Whether so many users who lost something there, of all who are in step or lost it, are no removals. */
export function areTooMany(losing: number, all: number): boolean {
  return (losing > MAX_LOSING && losing > all * MAX_LOSING_PART) || (losing > 1 && losing === all)
}
