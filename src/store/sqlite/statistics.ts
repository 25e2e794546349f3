// The metrics of the SQLite adapter.
import type { Database } from 'better-sqlite3'
import { MAX_COUNTED_SESSIONS, type StatisticsVerbs } from '../statistics-contract.ts'
import type { FaultLatch } from './engine/faults/fault-latch.ts'

export function createStatistics(reader: Database, faults: FaultLatch): StatisticsVerbs {
  // The idle expiry is never later than the absolute one, and it is indexed.
  const countSessions = reader
    .prepare<[number, number], number>('select count(*) from (select 1 from session where idle_expires_at > ? limit ?)')
    .pluck()
  return {
    statistics: (now) => ({
      openSessions: faults.guard(() => countSessions.get(now, MAX_COUNTED_SESSIONS) ?? 0),
      pools: [],
      replica: null,
    }),
  }
}
