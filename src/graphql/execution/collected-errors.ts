// Collects the errors of one execution and sorts them into depth-first order, whichever read completed first.
import type { FieldNode } from 'graphql'
import type { YieldTurn } from '../../http/limits/round-robin-scheduler.ts'
import { RequestAborted, type RequestBudget } from '../../resolvers/request-budget.ts'
import type { Awaitable } from '../../store/contract.ts'
import { SORTED_AT_ONCE, sortInTurns } from './sort-in-turns.ts'

/** Approximate length in UTF-16 units of an error in the response, and of each of its locations. */
const ERROR_LENGTH = 224
const LOCATION_LENGTH = 32

/** The path from the root to a field or a list item, as a linked list that begins at the end. */
export interface Path {
  readonly parent: Path | null
  /** Response name of a field, or index of a list item. */
  readonly key: string | number
  /** Position among its siblings. */
  readonly order: number
}

/**
 * The failure of a field, thrown up to the nearest nullable field. It is not an `Error`, because nobody reads its
 * stack.
 */
export class FieldFailure {
  readonly thrown: unknown
  readonly nodes: readonly FieldNode[]
  readonly path: Path | null

  constructor(thrown: unknown, nodes: readonly FieldNode[], path: Path | null) {
    this.thrown = thrown
    this.nodes = nodes
    this.path = path
  }
}

interface Collected {
  readonly failure: FieldFailure
  /** `order` of each step of the path from the root to the field that failed. */
  readonly orders: readonly number[]
  /** Length of the path from the root to the field or item that became null. */
  readonly nulledDepth: number
}

export interface CollectedErrors {
  /**
   * `nulled` is the path of the nearest nullable field or item, which becomes null; it is null if all of `data` becomes
   * null. Throws `RequestAborted` if the error exceeds the budget.
   */
  readonly add: (failure: FieldFailure, nulled: Path | null) => void
  /** The errors in depth-first order; a promise if there are so many that sorting them takes several turns. */
  readonly inOrder: (yieldTurn: YieldTurn) => Awaitable<readonly FieldFailure[]>
}

export function createCollectedErrors(budget: RequestBudget): CollectedErrors {
  const collected: Collected[] = []
  return {
    add(failure, nulled) {
      budget.addText(lengthOf(failure))
      collected.push({ failure, orders: ordersOf(failure.path), nulledDepth: ordersOf(nulled).length })
    },
    inOrder(yieldTurn) {
      if (collected.length <= SORTED_AT_ONCE) return reported(collected.toSorted(compareCollected))
      return sortInTurns(collected, compareCollected, yieldTurn).then(reported)
    },
  }
}

/**
 * Handles what was thrown at a field or a list item (specification, "Handling Execution Errors"). If the place may be
 * null, collects the error and returns the text `null`. If not, throws a `FieldFailure` to the place around it. A
 * `RequestAborted` is rethrown, so that no place catches it.
 */
export function nullOrThrow(
  { isNullable, nodes }: { readonly isNullable: boolean; readonly nodes: readonly FieldNode[] },
  errors: Pick<CollectedErrors, 'add'>,
  thrown: unknown,
  path: Path,
): 'null' {
  if (thrown instanceof RequestAborted) throw thrown
  const failure = thrown instanceof FieldFailure ? thrown : new FieldFailure(thrown, nodes, path)
  if (!isNullable) throw failure
  errors.add(failure, path)
  return 'null'
}

/**
 * The failures that a depth-first execution reports. Once a failure makes a field null, such an execution does nothing
 * more within that field, so later failures there are left out. All failures within one field are adjacent in this
 * order, so it is enough to compare each with the last reported one.
 */
function reported(sorted: readonly Collected[]): readonly FieldFailure[] {
  const failures: FieldFailure[] = []
  let last: Collected | null = null
  for (const next of sorted) {
    if (last !== null && isWithin(next.orders, last)) continue
    failures.push(next.failure)
    last = next
  }
  return failures
}

/**
 * Clients choose the response names and how many nodes merge into one field, and thousands of errors may repeat both.
 */
function lengthOf({ nodes, path }: FieldFailure): number {
  let length = ERROR_LENGTH + nodes.length * LOCATION_LENGTH
  for (let step = path; step !== null; step = step.parent) if (typeof step.key === 'string') length += step.key.length
  return length
}

function isWithin(orders: readonly number[], { orders: failed, nulledDepth }: Collected): boolean {
  for (let depth = 0; depth < nulledDepth; depth += 1) if (orders[depth] !== failed[depth]) return false
  return true
}

function compareCollected({ orders: a }: Collected, { orders: b }: Collected): number {
  for (const [depth, order] of a.entries()) {
    // A parent comes before its children.
    const difference = order - (b[depth] ?? -1)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

function ordersOf(path: Path | null): readonly number[] {
  const orders: number[] = []
  for (let step = path; step !== null; step = step.parent) orders.push(step.order)
  return orders.reverse()
}
