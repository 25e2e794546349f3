// Data types for the state of a followed user and for the findings of a round.
import type { DocumentKind } from '../../../store/contract.ts'
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
  /** The loss that the last rounds have found; null for none. */
  loss: FoundLoss | null
  failure: string
}

export type Counts = Record<'changed' | 'unchanged' | 'missing' | 'failed' | 'added' | 'replaced' | 'removed', number>

export interface Losing {
  readonly user: RemoteUser
  readonly one: Followed
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

export interface Refused extends Losing {
  readonly error: ContractError
  /** What the refused step might remove. Another step for a further loss of the same user may still remove it. */
  readonly may: Removable
}

type Failed = Omit<Refused, 'at' | 'may'>

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
