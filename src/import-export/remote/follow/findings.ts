// The state of a followed user, and the findings of a round.
import type { DocumentKind } from '../../../store/contract.ts'
import type { ContractError } from '../client.ts'
import type { RemoteUser } from '../move-in.ts'
import type { LossError } from '../refusals/loss.ts'
import type { SeenWorkspace } from '../seen-workspace.ts'
import type { RemoteSession } from '../session.ts'
import type { FoundLoss, Removable } from './losses.ts'
import { createUnanswered, type Unanswered } from './unanswered.ts'

export interface Followed {
  readonly session: RemoteSession
  /** The workspace at the other server as last seen; null before the first time. */
  seen: SeenWorkspace | null
  /**
   * Time by `performance.now()`, because clocks are set: everything that was there at this time is here. Before the
   * first time, when the user was named.
   */
  inStepAt: number
  /** See `Suspect.before`. */
  losses: readonly FoundLoss[]
  failure: string
}

type Count = 'changed' | 'unchanged' | 'missing' | 'failed' | 'waiting' | 'doubted' | 'added' | 'replaced' | 'removed'

/** A step of a user. */
export interface Step {
  readonly user: RemoteUser
  readonly one: Followed
  /** What it may remove at once. */
  readonly may: Removable
  /** See `Suspect.believed`. `may` has what these losses allow. */
  readonly believed: number
}

/** A step that was refused because of a loss. Once this one is believed, the next step still may remove what it might. */
export interface Losing extends Step {
  readonly error: LossError
  /** Time of the request, by `performance.now()`. */
  readonly at: number
}

/** The findings of a round so far. */
export interface Findings {
  readonly counts: Record<Count, number>
  /** Lists that were answered with documents for somebody. */
  readonly filled: Set<DocumentKind>
  /** Losses that are not decided yet. */
  losing: Losing[]
  readonly unanswered: Unanswered<Failed>
  /** Number of users that may get a response in this round. Only they tell whether the server is down. */
  users: number
  /** See `Round`. */
  outage: string | null
  isServerDown: boolean
}

type Failed = Pick<Step, 'user' | 'one'> & { readonly error: ContractError }

export function createFindings(): Findings {
  return {
    counts: {
      changed: 0,
      unchanged: 0,
      missing: 0,
      failed: 0,
      waiting: 0,
      doubted: 0,
      added: 0,
      replaced: 0,
      removed: 0,
    },
    filled: new Set(),
    losing: [],
    unanswered: createUnanswered(),
    users: Infinity,
    outage: null,
    isServerDown: false,
  }
}

/** Ends the round early. */
export function giveUp(found: Findings, { message }: Error, isServerDown: boolean): void {
  found.outage = message
  found.isServerDown = isServerDown
}

/** Adds the findings about a user who was asked outside the round, except for a missing response and an outage. */
export function addFindings(found: Findings, { counts, filled, losing }: Findings): void {
  for (const name of Object.keys(counts) as Count[]) found.counts[name] += counts[name]
  for (const kind of filled) found.filled.add(kind)
  found.losing.push(...losing)
}
