// What was run on the first page, newest first, for as long as the pages are open. Addresses hold no token.
import type { Verdict } from '../comparison.ts'

export interface PastRun {
  readonly at: string
  /** Who ran it: nobody else is shown it. */
  readonly email: string
  /** The address that brings it back. */
  readonly address: string
  readonly route: string
  readonly value: string
  /** Of REST and of GraphQL. */
  readonly statuses: readonly [rest: number, graphql: number]
  readonly durationsMs: readonly [rest: number, graphql: number]
  readonly verdict: Verdict
}

export interface RunHistory {
  readonly runs: () => readonly PastRun[]
  readonly subscribe: (listener: () => void) => () => void
  readonly add: (run: PastRun) => void
}

const MOST_KEPT = 50

export function createRunHistory(): RunHistory {
  const listeners = new Set<() => void>()
  let runs: readonly PastRun[] = []
  return {
    runs: () => runs,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    add(run) {
      runs = [run, ...runs].slice(0, MOST_KEPT)
      for (const listener of listeners) listener()
    },
  }
}
