// Reports session counts and the statistics of pools and replica for metrics.
import { MAX_COUNTED_SESSIONS, type StatisticsVerbs } from '../statistics-contract.ts'
import type { Statement } from './connection.ts'
import type { Pool } from './engine/pool.ts'
import type { Replica } from './engine/replica.ts'

// The idle expiry has an index and is never later than the absolute expiry.
const COUNT_SESSIONS: Statement = {
  name: 'countSessions',
  text: `select count(*)::integer as count
    from (select 1 from workspace_gateway.session where idle_expires_at > $1 limit ${MAX_COUNTED_SESSIONS}) open`,
}

export function createStatistics(pool: Pool, replica: Replica | undefined): StatisticsVerbs {
  return {
    async statistics(now) {
      const [[counted], replicated] = await Promise.all([
        pool.repeatable((connection) => connection.query(COUNT_SESSIONS, [now])),
        replica ? replica.statistics() : null,
      ])
      return {
        openSessions: Number(counted?.count ?? 0),
        pools: [{ name: 'primary', ...pool.counts() }, ...(replicated ? [replicated.pool] : [])],
        replica: replicated,
      }
    },
  }
}
