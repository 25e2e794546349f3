// Decides whether a loss at the other server is believed: only when it is found again some time later.

/**
 * `workspace`: every list is 404. `documents`: every list exists and is empty. `exports`: the projects exist, and the
 * exports of all of them are 404.
 */
export type Loss = 'workspace' | 'documents' | 'exports'

/** Minimum number of consecutive rounds that find the loss. */
const ROUNDS_TO_BELIEVE = 2
/**
 * When more users than this, and more than this fraction of all, lose the same in one round, the server is at fault.
 */
const MAX_LOSING = 3
const MAX_LOSING_PART = 0.1

export interface FoundLoss {
  readonly loss: Loss
  readonly rounds: number
  /** Time of the first finding, in milliseconds of a monotonic clock. */
  readonly since: number
}

/** Adds a finding to the previous one, which is null for none and when the user was in step since. */
export function findAgain(before: FoundLoss | null, loss: Loss, at: number): FoundLoss {
  return before?.loss === loss ? { ...before, rounds: before.rounds + 1 } : { loss, rounds: 1, since: at }
}

/** Whether the loss of one user is believed at time `at`. */
export function isBelieved({ rounds, since }: FoundLoss, at: number, afterMs: number): boolean {
  return rounds >= ROUNDS_TO_BELIEVE && at - since >= afterMs
}

/**
 * Whether the number of losing users, compared with all users that are in step or losing, is too high for real
 * removals.
 */
export function areTooMany(losing: number, all: number): boolean {
  return (losing > MAX_LOSING && losing > all * MAX_LOSING_PART) || (losing > 1 && losing === all)
}
