// Decides whether a loss at the other server is believed: only when it is found again some time later.
import type { DocumentKind } from '../../../store/contract.ts'
import { DOCUMENT_KINDS } from '../../../store/reads-contract.ts'
import type { Round } from './round.ts'

/**
 * `workspace`: every list is 404. `documents`: every list exists and is empty. `lists:…`: these lists are 404, and others
 * are not. `exports`: the projects exist, and the exports of all of them are 404.
 */
export type Loss = 'workspace' | 'documents' | `lists:${string}` | 'exports'

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

/**
 * Adds a finding to those of the round before. Each of `before` was found once those in front of it were believed, as
 * this one is once the first `believed` of them are.
 */
export function findAgain(
  before: readonly FoundLoss[],
  believed: number,
  loss: Loss,
  at: number,
): readonly FoundLoss[] {
  const known = before.find((found) => found.loss === loss)
  const again = known ? { ...known, rounds: known.rounds + 1 } : { loss, rounds: 1, since: at }
  return [...before.slice(0, believed), again, ...(known === before[believed] ? before.slice(believed + 1) : [])]
}

/** Whether the loss of one user is believed at time `at`. */
export function isBelieved(found: FoundLoss | undefined, at: number, afterMs: number): boolean {
  return found !== undefined && found.rounds >= ROUNDS_TO_BELIEVE && at - found.since >= afterMs
}

/**
 * Whether the number of losing users, compared with all users that are in step or losing, is too high for real
 * removals.
 */
export function areTooMany(losing: number, all: number): boolean {
  return (losing > MAX_LOSING && losing > all * MAX_LOSING_PART) || (losing > 1 && losing === all)
}

interface LosingLists {
  readonly error: { readonly kinds: readonly DocumentKind[] }
}

/** The lists that too many of the losing users have lost. */
export function doubtedLists(
  losing: readonly LosingLists[],
  { changed, unchanged }: Pick<Round, 'changed' | 'unchanged'>,
): readonly DocumentKind[] {
  const lost = (kind: DocumentKind) => losing.filter(({ error }) => error.kinds.includes(kind)).length
  return DOCUMENT_KINDS.filter((kind) => areTooMany(lost(kind), losing.length + changed + unchanged))
}
