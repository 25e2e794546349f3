// Stores the runs of the first page, newest first, in memory. The stored addresses contain no token.
import type { Verdict } from '../comparison.ts'

export interface PastRun {
  readonly at: string
  /** The user who ran it; only this user sees it. */
  readonly email: string
  /** The address that restores the run. */
  readonly address: string
  readonly route: string
  readonly value: string
  /** The HTTP statuses of the REST and the GraphQL response. */
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
