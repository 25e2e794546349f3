// The state of a followed user, what a step may remove, and the findings of a round.
import type { DocumentKind } from '../../../store/contract.ts'
import { DOCUMENT_KINDS } from '../../../store/reads-contract.ts'
import type { ContractError } from '../client.ts'
import type { MoveInOptions, RemoteUser } from '../move-in.ts'
import type { EmptiedListsError, LostListsError } from '../refusals/lost-documents.ts'
import type { SeenWorkspace } from '../seen-workspace.ts'
import type { RemoteSession } from '../session.ts'
import type { FoundLoss } from './losses.ts'
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
  /** The losses that the last rounds have found, in the order in which they have to be believed. */
  losses: readonly FoundLoss[]
  failure: string
}

export type Counts = Record<'changed' | 'unchanged' | 'missing' | 'failed' | 'added' | 'replaced' | 'removed', number>

/** A step of a user. */
export interface Step {
  readonly user: RemoteUser
  readonly one: Followed
  /** What it may remove at once. */
  readonly may: Removable
  /** Number of `losses` that this round has found again and believes. `may` has what they allow. */
  readonly believed: number
}

export interface Losing extends Pick<Step, 'user' | 'one'> {
  /** Time of the request, by `performance.now()`. */
  readonly at: number
}

/** The findings of a round so far. */
export interface Findings {
  readonly counts: Counts
  /** Lists that were answered with documents for somebody. */
  readonly filled: Set<DocumentKind>
  readonly gone: Losing[]
  /** Users who have no documents there but some here. */
  readonly emptied: Refused[]
  /** Users with lists that are empty there and not here, and with other documents there. */
  readonly emptiedLists: (Refused & { readonly error: EmptiedListsError })[]
  /** Users with lists that are 404 there, if the server may answer so for an empty list. */
  readonly lostLists: (Refused & { readonly error: LostListsError })[]
  readonly lostExports: Refused[]
  readonly unanswered: Unanswered<Failed>
  /** Number of users that may get a response in this round. Only they tell whether the server is down. */
  users: number
  /** See `Round`. */
  outage: string | null
  isServerDown: boolean
}

/** Removals that one step may make at once; otherwise they are decided at the end of the round. */
export type Removable = Pick<MoveInOptions, 'mayLoseLists' | 'mayClear' | 'mayEmptyWorkspace' | 'mayLoseAllExports'>

/** For a first step: everything, or nothing that a fault of the server could have hidden. */
export function removableAtOnce(isAll: boolean): Removable {
  const kinds = isAll ? DOCUMENT_KINDS : []
  return { mayLoseLists: kinds, mayClear: kinds, mayEmptyWorkspace: isAll, mayLoseAllExports: isAll }
}

/** A refused step. Another one for a further loss of the same user may still remove what it might. */
export interface Refused extends Step, Losing {
  readonly error: ContractError
}

type Failed = Pick<Refused, 'user' | 'one' | 'error'>

export function createFindings(): Findings {
  return {
    counts: { changed: 0, unchanged: 0, missing: 0, failed: 0, added: 0, replaced: 0, removed: 0 },
    filled: new Set(),
    gone: [],
    emptied: [],
    emptiedLists: [],
    lostLists: [],
    lostExports: [],
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
