// Reports the current state of a gateway: cache, memory budget, connections, sessions, replica, and how long requests
// wait.
import type { CacheSize } from '../../http/caching/response-cache.ts'
import type { InFlightBytes } from '../../http/limits/in-flight-bytes.ts'
import type { StatisticsVerbs, StoreStatistics } from '../../store/statistics-contract.ts'
import { createHistogram, histogram, observeDuration } from './histogram.ts'
import { inTime } from './in-time.ts'
import { type CollectMetrics, gauge, gauges, type Metric } from './metric.ts'

export interface WatchedState {
  readonly store: StatisticsVerbs
  readonly inFlight: InFlightBytes
  readonly maxInFlightBytes: number
  readonly version: string
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

export interface StateMetrics {
  readonly onQueueDelay: (delayMs: number) => void
  readonly onCache: (size: () => CacheSize) => void
  readonly collect: CollectMetrics
}

export function createStateMetrics(watched: WatchedState): StateMetrics {
  const { store, inFlight, maxInFlightBytes, version, clock } = watched
  const queueTime = createHistogram()
  let cacheSize: () => CacheSize = () => ({ bytes: 0, maxBytes: 0, entries: 0 })

  function ofProcess(): readonly Metric[] {
    const { bytes, maxBytes, entries } = cacheSize()
    return [
      gauges(
        'workspace_gateway_info',
        'Versions of the gateway and of Node, as labels; always 1.',
        [{ value: 1, labels: { version, node: process.version } }],
        'first',
      ),
      histogram('workspace_gateway_queue_time_seconds', 'How long requests waited before they were processed.', [
        [queueTime, {}],
      ]),
      gauge('workspace_gateway_reply_cache_bytes', 'Memory used by the reply cache.', bytes),
      gauge('workspace_gateway_reply_cache_max_bytes', 'Maximum size of the reply cache (cache-bytes).', maxBytes),
      gauge('workspace_gateway_reply_cache_entries', 'Replies in the reply cache.', entries),
      gauge(
        'workspace_gateway_in_flight_bytes',
        'Memory used by large answers while they are made and sent.',
        inFlight.byteLength(),
      ),
      gauge(
        'workspace_gateway_in_flight_max_bytes',
        'Maximum memory for large answers while they are made and sent (in-flight-bytes).',
        maxInFlightBytes,
      ),
    ]
  }

  return {
    onQueueDelay: (delayMs) => observeDuration(queueTime, delayMs),
    onCache(size) {
      cacheSize = size
    },
    async collect() {
      return [...ofProcess(), ...ofStore(await inTime(async () => store.statistics(clock())))]
    },
  }
}

/** Reports the status of `/readyz`. One ready worker is enough; without workers, no worker reports it. */
export function readiness(isReady: boolean): Metric {
  return gauge('workspace_gateway_ready', 'Whether /readyz answers 200.', isReady ? 1 : 0, 'max')
}

/** `statistics` is null when the database does not answer: the other metrics matter most then. */
function ofStore(statistics: StoreStatistics | null): readonly Metric[] {
  const up = gauge(
    'workspace_gateway_database_up',
    'Whether the database answered.',
    statistics === null ? 0 : 1,
    'min',
  )
  if (statistics === null) return [up]
  const { openSessions, pools, replica } = statistics
  return [
    up,
    gauge('workspace_gateway_sessions', 'Open sessions in the database, counted up to 100,000.', openSessions, 'max'),
    ...(pools.length === 0 ? [] : ofPools(pools)),
    ...(replica === null ? [] : ofReplica(replica)),
  ]
}

function ofPools(pools: StoreStatistics['pools']): readonly Metric[] {
  const poolName = (name: string) => ({ db_client_connection_pool_name: name })
  return [
    gauges(
      'db_client_connection_count',
      'Connections to PostgreSQL, by state.',
      pools.flatMap(({ name, used, idle }) => [
        { value: used, labels: { ...poolName(name), db_client_connection_state: 'used' } },
        { value: idle, labels: { ...poolName(name), db_client_connection_state: 'idle' } },
      ]),
    ),
    gauges(
      'db_client_connection_max',
      'Maximum open connections to PostgreSQL.',
      pools.map(({ name, max }) => ({ value: max, labels: poolName(name) })),
    ),
    gauges(
      'db_client_connection_pending_requests',
      'Reads and writes that wait for a connection to PostgreSQL.',
      pools.map(({ name, waiting }) => ({ value: waiting, labels: poolName(name) })),
    ),
  ]
}

function ofReplica({ isUsed, lagSeconds }: NonNullable<StoreStatistics['replica']>): readonly Metric[] {
  const used = gauge('workspace_gateway_replica_used', 'Whether reads go to the replica.', isUsed ? 1 : 0, 'min')
  if (lagSeconds === null) return [used]
  return [
    used,
    gauge('workspace_gateway_replica_lag_seconds', 'How far the replica is behind the primary.', lagSeconds, 'max'),
  ]
}
