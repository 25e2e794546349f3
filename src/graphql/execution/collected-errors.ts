// The errors of one execution, in the order a depth-first execution meets them, whatever was read first.
import type { FieldNode } from 'graphql'
import type { YieldTurn } from '../../http/limits/round-robin-scheduler.ts'
import type { RequestBudget } from '../../resolvers/request-budget.ts'
import type { Awaitable } from '../../store/contract.ts'
import { SORTED_AT_ONCE, sortInTurns } from './sort-in-turns.ts'

/** An error takes about this much room in an answer, in UTF-16 units, and each of its places in the document as much more. */
const ERROR_LENGTH = 224
const LOCATION_LENGTH = 32

/** The way from the root to a field or a list item. */
export interface Path {
  readonly parent: Path | null
  /** Response name of a field, index of a list item. */
  readonly key: string | number
  /** Place among its siblings. */
  readonly order: number
}

/** A field that failed, on its way up to the nearest field that may be null. Thrown, but no Error: nobody reads its stack. */
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
  /** Of the field that failed. */
  readonly orders: readonly number[]
  /** How many steps lead from the root to what became null. */
  readonly nulledDepth: number
}

export interface CollectedErrors {
  /**
   * `nulled` is the nearest place above the failure that may be null; null itself stands for all of `data`. Throws
   * `RequestAborted` where the answer has no room for it.
   */
  readonly add: (failure: FieldFailure, nulled: Path | null) => void
  /** Empty when nothing failed. At once, unless there are many. */
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
      if (collected.length <= SORTED_AT_ONCE) return reached(collected.toSorted(compareCollected))
      return sortInTurns(collected, compareCollected, yieldTurn).then(reached)
    },
  }
}

/**
 * What follows a failure within the place it made null is never executed depth first, so it is not reported. In this order all
 * that is within one place stands together, so only the last failure that was reached has to be looked at.
 */
function reached(sorted: readonly Collected[]): readonly FieldFailure[] {
  const failures: FieldFailure[] = []
  let last: Collected | null = null
  for (const next of sorted) {
    if (last !== null && isWithin(next.orders, last)) continue
    failures.push(next.failure)
    last = next
  }
  return failures
}

/** A client chooses names and how many fields are merged into one: thousands of errors may repeat them. */
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
    // What holds another comes before it.
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
