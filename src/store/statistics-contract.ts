// The part of the store contract that covers metrics: open sessions, connection pools and the replica.
import type { Awaitable } from './awaitable.ts'

/** Open sessions are counted only up to this number, so that the count stays fast. */
export const MAX_COUNTED_SESSIONS = 100_000

export interface PoolStatistics {
  readonly name: 'primary' | 'replica'
  readonly used: number
  readonly idle: number
  /** Number of callers that wait for a connection. */
  readonly waiting: number
  readonly max: number
}

export interface ReplicaStatistics {
  /** Whether reads are sent to the replica at the moment. */
  readonly isUsed: boolean
  /**
   * Replication lag. 0 if the replica is connected to its primary and has applied everything it received, null if it
   * cannot be queried.
   */
  readonly lagSeconds: number | null
}

export interface StoreStatistics {
  /** Number of sessions that are open at the given time, at most `MAX_COUNTED_SESSIONS`. */
  readonly openSessions: number
  /** Connection pools. Empty on SQLite. */
  readonly pools: readonly PoolStatistics[]
  readonly replica: ReplicaStatistics | null
}

export interface StatisticsVerbs {
  /** `now` is in milliseconds since the epoch. Cheap enough to call every few seconds. */
  readonly statistics: (now: number) => Awaitable<StoreStatistics>
}
