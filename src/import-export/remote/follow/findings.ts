// What is known of a user who is followed, and what a round has found so far.
import type { ContractError } from '../client.ts'
import type { RemoteUser } from '../move-in.ts'
import type { SeenWorkspace } from '../seen-workspace.ts'
import type { RemoteSession } from '../session.ts'
import type { FoundLoss } from './losses.ts'
import { createUnanswered, type Unanswered } from './unanswered.ts'

export interface Followed {
  readonly session: RemoteSession
  /** What was there last, null before the first time. */
  seen: SeenWorkspace | null
  /** By `performance.now()`, since clocks are set: nothing was missing here of what was there then. */
  inStepAt: number
  /** What the last rounds have found; null while nothing is. */
  loss: FoundLoss | null
  failure: string
}

export type Counts = Record<'changed' | 'unchanged' | 'missing' | 'failed' | 'added' | 'replaced' | 'removed', number>

export interface Losing {
  readonly user: RemoteUser
  readonly one: Followed
  /** When it was asked for, by `performance.now()`. */
  readonly at: number
}

/** What a round has found so far. */
export interface Findings {
  readonly counts: Counts
  readonly gone: Losing[]
  /** Without any document there, and with some here. */
  readonly emptied: Refused[]
  readonly lostExports: Refused[]
  readonly unanswered: Unanswered<Failed>
  /** Who can answer in the round; nobody else tells whether the server is away. */
  users: number
  outage: string | null
}

export interface Refused extends Losing {
  readonly error: ContractError
}

type Failed = Omit<Refused, 'at'>

export function createFindings(): Findings {
  return {
    counts: { changed: 0, unchanged: 0, missing: 0, failed: 0, added: 0, replaced: 0, removed: 0 },
    gone: [],
    emptied: [],
    lostExports: [],
    unanswered: createUnanswered(),
    users: Infinity,
    outage: null,
  }
}
