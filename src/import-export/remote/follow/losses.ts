// The rules by which follow decides whether data that the other server no longer shows was removed there, or lost by a
// fault. Only what is believed to be removed is removed here.
import type { DocumentKind } from '../../../store/contract.ts'
import { DOCUMENT_KINDS } from '../../../store/reads-contract.ts'
import type { MoveInOptions } from '../move-in.ts'
import type { LossType } from '../refusals/loss.ts'

/** What one step may remove, although the other server may have lost it. */
export type Removable = Pick<MoveInOptions, 'mayLoseLists' | 'mayClear' | 'mayEmptyWorkspace' | 'mayLoseAllExports'>

/** For a first step: everything, or nothing that a fault of the server could have hidden. */
export function removableAtOnce(isAll: boolean): Removable {
  const kinds = isAll ? DOCUMENT_KINDS : []
  return { mayLoseLists: kinds, mayClear: kinds, mayEmptyWorkspace: isAll, mayLoseAllExports: isAll }
}

interface Rule {
  /** Whether every round must have found it for `removeAfterMs`, and at least `ROUNDS_TO_BELIEVE` rounds. */
  readonly mustLast: boolean
  /** Whether the same list of somebody else must have documents: else its route may be at fault. */
  readonly needsFilledList: boolean
  /** What the next step of the user may remove once it is believed. */
  readonly allows: (kinds: readonly DocumentKind[]) => Partial<Removable>
}

export const RULES: Readonly<Record<LossType, Rule>> = {
  lists: { mustLast: true, needsFilledList: true, allows: (kinds) => ({ mayLoseLists: kinds }) },
  emptyLists: { mustLast: false, needsFilledList: false, allows: (kinds) => ({ mayClear: kinds }) },
  exports: { mustLast: true, needsFilledList: false, allows: () => ({ mayLoseAllExports: true }) },
  documents: { mustLast: true, needsFilledList: false, allows: () => ({ mayEmptyWorkspace: true }) },
  /** The user is removed, without another step. */
  workspace: { mustLast: true, needsFilledList: false, allows: () => ({}) },
}

/**
 * The order in which a round decides: a user whose loss is believed may have another one of a later group. The losses of
 * one group are counted together.
 */
export const GROUPS: readonly (readonly LossType[])[] = [
  ['lists'],
  ['emptyLists'],
  ['exports'],
  ['documents', 'workspace'],
]

const ROUNDS_TO_BELIEVE = 2
/**
 * When more users than this, and more than this fraction of all, lose the same in one round, the server is at fault.
 */
const MAX_LOSING = 3
const MAX_LOSING_PART = 0.1

export interface FoundLoss {
  /** The type and the lists. */
  readonly name: string
  readonly rounds: number
  /** Time of the first finding, in milliseconds of a monotonic clock. */
  readonly since: number
}

export interface Suspect {
  readonly type: LossType
  /** See `LossError`. */
  readonly kinds: readonly DocumentKind[]
  /** Time of the request, on the clock of `FoundLoss.since`. */
  readonly at: number
  /** The losses of the user that the last rounds have found. Each was found once those in front of it were believed. */
  readonly before: readonly FoundLoss[]
  /** Number of losses in `before` that this round has found again and believes. */
  readonly believed: number
}

/** Number of users with a loss of the same group in one round. */
export interface LosingUsers {
  readonly all: number
  /** How many of them have lost each list alone. */
  readonly byKind: ReadonlyMap<DocumentKind, number>
}

export interface Evidence {
  readonly losing: LosingUsers
  /** Number of users who are in step in this round. */
  readonly inStep: number
  /** Lists that were answered with documents for somebody. */
  readonly filled: ReadonlySet<DocumentKind>
  /** Whether the round was given up: then it removes nothing. */
  readonly isGivenUp: boolean
}

export interface RemovalOptions {
  /**
   * How long a workspace must be gone or empty there, or all exports of a user, before the data here is removed, in
   * milliseconds.
   */
  readonly removeAfterMs: number
  /**
   * Whether the server answers 404 for an empty list. Then a 404 for one list of a user is believed after
   * `removeAfterMs`, if that list of somebody else is answered meanwhile.
   */
  readonly areAbsentListsEmpty: boolean
  /**
   * Whether to believe at once, for any number of users, that workspaces are gone or empty, that a list is empty, and a
   * 404 for one list or for all exports of a user.
   */
  readonly mayRemoveMany: boolean
}

export interface Verdict {
  /** `doubted`: the server may be at fault. `waiting`: it must be found again. */
  readonly outcome: 'doubted' | 'waiting' | 'believed'
  /** The `before` and the `believed` of what is found next. */
  readonly losses: readonly FoundLoss[]
  readonly believed: number
}

/** Decides one loss of one user in one round. */
export function judge(suspect: Suspect, evidence: Evidence, options: RemovalOptions): Verdict {
  const { type, kinds, at, before, believed } = suspect
  const { mustLast } = RULES[type]
  const name = [type, ...kinds].join()
  if (isDoubted(suspect, evidence, options)) return { outcome: 'doubted', losses: [], believed: 0 }
  if (evidence.isGivenUp) {
    const losses = before.filter((found, index) => index < believed || found.name === name)
    return { outcome: 'waiting', losses, believed }
  }
  if (!mustLast) return { outcome: 'believed', losses: before, believed }
  const losses = findAgain(before, believed, name, at)
  const isBelieved = options.mayRemoveMany || hasLasted(losses[believed], at, options.removeAfterMs)
  return { outcome: isBelieved ? 'believed' : 'waiting', losses, believed: believed + 1 }
}

/** `losses` are all of one group in a round. */
export function countLosses(losses: readonly Pick<Suspect, 'kinds'>[]): LosingUsers {
  const byKind = new Map<DocumentKind, number>()
  for (const kind of losses.flatMap(({ kinds }) => kinds)) byKind.set(kind, (byKind.get(kind) ?? 0) + 1)
  return { all: losses.length, byKind }
}

function isDoubted(
  { type, kinds }: Suspect,
  { losing, inStep, filled }: Evidence,
  { areAbsentListsEmpty, mayRemoveMany }: RemovalOptions,
): boolean {
  if (mayRemoveMany) return false
  if (type === 'lists' && !areAbsentListsEmpty) return true
  const all = losing.all + inStep
  if (kinds.length === 0) return areTooMany(losing.all, all)
  const isUnfilled = (kind: DocumentKind) => RULES[type].needsFilledList && !filled.has(kind)
  return kinds.some((kind) => isUnfilled(kind) || areTooMany(losing.byKind.get(kind) ?? 0, all))
}

/** Whether the number of losing users is too high for real removals. `all` are the losing users and those in step. */
function areTooMany(losing: number, all: number): boolean {
  return (losing > MAX_LOSING && losing > all * MAX_LOSING_PART) || (losing > 1 && losing === all)
}

/** Adds a finding to those of the round before. */
function findAgain(before: readonly FoundLoss[], believed: number, name: string, at: number): readonly FoundLoss[] {
  const known = before.find((found) => found.name === name)
  const again = known ? { ...known, rounds: known.rounds + 1 } : { name, rounds: 1, since: at }
  return [...before.slice(0, believed), again, ...(known === before[believed] ? before.slice(believed + 1) : [])]
}

function hasLasted(found: FoundLoss | undefined, at: number, removeAfterMs: number): boolean {
  return found !== undefined && found.rounds >= ROUNDS_TO_BELIEVE && at - found.since >= removeAfterMs
}
