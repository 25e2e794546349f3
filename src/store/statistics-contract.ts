// What an adapter tells of itself for metrics.
import type { Awaitable } from './awaitable.ts'

/** Open sessions are counted up to here, so that a count holds up nobody. */
export const MAX_COUNTED_SESSIONS = 100_000

export interface PoolStatistics {
  readonly name: 'primary' | 'replica'
  readonly used: number
  readonly idle: number
  /** Callers that wait for a connection. */
  readonly waiting: number
  readonly max: number
}

export interface ReplicaStatistics {
  /** Whether reads are asked of it now. */
  readonly isUsed: boolean
  /** How old what it shows is; 0 when it has all that it was sent, null when it cannot be asked. */
  readonly lagSeconds: number | null
}

export interface StoreStatistics {
  /** Open at the time that was asked for; at most `MAX_COUNTED_SESSIONS`. */
  readonly openSessions: number
  /** Of a database that is reached over connections. */
  readonly pools: readonly PoolStatistics[]
  readonly replica: ReplicaStatistics | null
}

export interface StatisticsVerbs {
  /** `now` in milliseconds since the epoch. Cheap enough to be asked every few seconds. */
  readonly statistics: (now: number) => Awaitable<StoreStatistics>
}
