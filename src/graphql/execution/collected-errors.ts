// The errors of one execution, in the order in which a depth-first execution meets them, whichever read was answered first.
import type { FieldNode } from 'graphql'
import type { YieldTurn } from '../../http/limits/round-robin-scheduler.ts'
import type { RequestBudget } from '../../resolvers/request-budget.ts'
import type { Awaitable } from '../../store/contract.ts'
import { SORTED_AT_ONCE, sortInTurns } from './sort-in-turns.ts'

/** About how long an error is in a response, and each of its locations, in UTF-16 units. */
const ERROR_LENGTH = 224
const LOCATION_LENGTH = 32

/** The way from the root to a field or a list item. */
export interface Path {
  readonly parent: Path | null
  /** Response name of a field, index of a list item. */
  readonly key: string | number
  /** Position among its siblings. */
  readonly order: number
}

/** The failure of a field, thrown up to the nearest nullable field. It is no `Error`: nobody reads its stack. */
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
  /** Length of the path from the root to what became null. */
  readonly nulledDepth: number
}

export interface CollectedErrors {
  /**
   * `nulled` is the path of the nearest nullable field or item, which becomes null; it is null where all of `data` does. Throws
   * `RequestAborted` where the budget has no room for the error.
   */
  readonly add: (failure: FieldFailure, nulled: Path | null) => void
  /** Empty when nothing failed. A promise where there are many errors: sorting them takes several turns. */
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
 * The failures that a depth-first execution reports. Where one makes a field null, it executes nothing more within that field, so
 * later failures there are left out. In this order all failures within one field stand together: it is enough to compare each
 * with the last one that is reported.
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

/** Clients choose the names of fields, and how many nodes are merged into one field: thousands of errors may repeat both. */
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
