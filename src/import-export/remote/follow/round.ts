// The result of a round of `follow`, as it is reported.

/** Counts are in users, unless they say otherwise. */
export interface Round {
  readonly users: number
  readonly changed: number
  readonly unchanged: number
  /** Users without a workspace there. */
  readonly missing: number
  readonly failed: number
  /** Users without a workspace there who still have one here. */
  readonly waiting: number
  /**
   * Users whose workspace is gone or empty there, together with those of so many others that it is not believed. They
   * count as failed.
   */
  readonly doubted: number
  /** Documents and exports; for users that are removed as a whole, the users. */
  readonly added: number
  readonly replaced: number
  readonly removed: number
  /** Why the round was given up, as a sentence; the remaining users count as failed. Null for a complete round. */
  readonly outage: string | null
  /** Whether the other server was the reason for that, and not the database or the disk here. */
  readonly isServerDown: boolean
  readonly seconds: number
  /**
   * Age of the oldest state that a user is known to equal; for a user who has none, the time since the user was first
   * named. Null before any user was in step.
   */
  readonly lagSeconds: number | null
}

export type Changes = Pick<Round, 'added' | 'replaced' | 'removed'>
