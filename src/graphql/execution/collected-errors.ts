// The errors of one execution, in the order a depth-first execution meets them, whatever was read first.
import { type FieldNode, getLocation, type Location, type SourceLocation } from 'graphql'

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
  /** `nulled` is the nearest place above the failure that may be null; null itself stands for all of `data`. */
  readonly add: (failure: FieldFailure, nulled: Path | null) => void
  /** Empty when nothing failed. */
  readonly inOrder: () => readonly FieldFailure[]
}

export function createCollectedErrors(): CollectedErrors {
  const collected: Collected[] = []
  return {
    add(failure, nulled) {
      collected.push({ failure, orders: ordersOf(failure.path), nulledDepth: ordersOf(nulled).length })
    },
    /** What follows a failure within the place it made null is never executed depth first, so it is not reported. */
    inOrder() {
      const kept: Collected[] = []
      for (const next of collected.toSorted((a, b) => compareOrders(a.orders, b.orders))) {
        if (!kept.some((earlier) => isWithin(next.orders, earlier))) kept.push(next)
      }
      return kept.map(({ failure }) => failure)
    },
  }
}

/** Looking for it takes time by the text before it; the documents that are asked again and again are the same objects. */
const locations = new WeakMap<Location, SourceLocation>()

function locationOf(loc: Location): SourceLocation {
  const known = locations.get(loc)
  if (known) return known
  const location = getLocation(loc.source, loc.start)
  locations.set(loc, location)
  return location
}

/** Where in the document and in the answer something failed (specification, section 7.1.6); undefined where that is nowhere. */
export interface Place {
  readonly locations: readonly SourceLocation[] | undefined
  readonly path: readonly (string | number)[] | undefined
}

export function placeOf({ nodes, path }: FieldFailure): Place {
  return {
    locations: nodes.flatMap(({ loc }) => (loc ? locationOf(loc) : [])),
    path: keysOf(path),
  }
}

function isWithin(orders: readonly number[], { orders: failed, nulledDepth }: Collected): boolean {
  for (let depth = 0; depth < nulledDepth; depth += 1) if (orders[depth] !== failed[depth]) return false
  return true
}

function compareOrders(a: readonly number[], b: readonly number[]): number {
  for (const [depth, order] of a.entries()) {
    // What holds another comes before it.
    const difference = order - (b[depth] ?? -1)
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

function keysOf(path: Path | null): readonly (string | number)[] {
  const keys: (string | number)[] = []
  for (let step = path; step !== null; step = step.parent) keys.push(step.key)
  return keys.reverse()
}

function ordersOf(path: Path | null): readonly number[] {
  const orders: number[] = []
  for (let step = path; step !== null; step = step.parent) orders.push(step.order)
  return orders.reverse()
}
