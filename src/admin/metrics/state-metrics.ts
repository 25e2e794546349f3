// What a gateway holds at the moment it is asked: cache, budget, connections, sessions, replica, and how long requests wait.
import type { AuditEvent } from '../../auth/audit/audit-event.ts'
import type { CacheSize } from '../../http/caching/response-cache.ts'
import type { InFlightBytes } from '../../http/limits/in-flight-bytes.ts'
import type { BreakReason } from '../../http/server/broken-off.ts'
import type { ImportEvent } from '../../import-export/run-import.ts'
import type { StatisticsVerbs, StoreStatistics } from '../../store/statistics-contract.ts'
import { createHistogram, histogramValues, observeDuration } from './histogram.ts'
import { type CollectMetrics, counter, gauge, gauges, type Metric } from './metric.ts'

const QUEUE_TIME = 'workspace_gateway_queue_time_seconds'

/** Last events of an import. */
const IMPORT_RESULTS = new Set<ImportEvent['type']>(['imported', 'wouldImport', 'refused', 'failed'])
/** A database that does not answer in this time is away: a scrape is not to wait for it. */
const PATIENCE_MS = 2_000

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
  /** Logins, codes, logouts, removals: what the audit log is told of. */
  readonly onEvent: (event: AuditEvent) => void
  readonly onBrokenOff: (reason: BreakReason) => void
  /** An import through POST /import has ended with this event, or because its client left. */
  readonly onImport: (last: ImportEvent | null) => void
  readonly collect: CollectMetrics
}

export function createStateMetrics(watched: WatchedState): StateMetrics {
  const { store, inFlight, maxInFlightBytes, version, clock } = watched
  const queueTime = createHistogram()
  const events = new Map<string, { readonly event: AuditEvent; count: number }>()
  const brokenOff = new Map<string, number>()
  const imports = new Map<string, number>()
  const importedRecords = { added: 0, replaced: 0, unchanged: 0, removed: 0 }
  let cacheSize: () => CacheSize = () => ({ bytes: 0, maxBytes: 0, entries: 0 })

  function ofProcess(): readonly Metric[] {
    const { bytes, maxBytes, entries } = cacheSize()
    return [
      gauges(
        'workspace_gateway_info',
        'What runs; always 1.',
        [{ value: 1, labels: { version, node: process.version } }],
        'first',
      ),
      {
        name: QUEUE_TIME,
        help: 'How far the event loop was behind, looked at every 20 ms while there are requests: how long one waits.',
        type: 'histogram',
        aggregator: 'sum',
        values: histogramValues(QUEUE_TIME, queueTime, {}),
      },
      gauge('workspace_gateway_reply_cache_bytes', 'Memory of finished replies.', bytes),
      gauge('workspace_gateway_reply_cache_max_bytes', 'What it may become (cache-bytes).', maxBytes),
      gauge('workspace_gateway_reply_cache_entries', 'Finished replies that are kept.', entries),
      gauge(
        'workspace_gateway_in_flight_bytes',
        'Memory of large answers that are being made and sent.',
        inFlight.byteLength(),
      ),
      gauge('workspace_gateway_in_flight_max_bytes', 'What it may become (in-flight-bytes).', maxInFlightBytes),
      counter(
        'workspace_gateway_events_total',
        'What the audit log is told of: logins, codes, logouts, refused refreshes, removals.',
        [...events.values()].map(({ event: { kind, result }, count }) => ({ value: count, labels: { kind, result } })),
      ),
      counter(
        'workspace_gateway_responses_broken_off_total',
        'Responses that ended before they were whole.',
        [...brokenOff].map(([reason, value]) => ({ value, labels: { reason } })),
      ),
      counter(
        'workspace_gateway_imports_total',
        'Imports through POST /import, by how they ended.',
        [...imports].map(([result, value]) => ({ value, labels: { result } })),
      ),
      counter(
        'workspace_gateway_import_records_total',
        'Records of imports through POST /import, by what became of them.',
        Object.entries(importedRecords).map(([outcome, value]) => ({ value, labels: { outcome } })),
      ),
    ]
  }

  return {
    onQueueDelay: (delayMs) => observeDuration(queueTime, delayMs),
    onCache(size) {
      cacheSize = size
    },
    onEvent(event) {
      const name = `${event.kind} ${event.result}`
      const known = events.get(name)
      if (known) known.count += 1
      else events.set(name, { event: { kind: event.kind, result: event.result }, count: 1 })
    },
    onBrokenOff: (reason) => brokenOff.set(reason, (brokenOff.get(reason) ?? 0) + 1),
    onImport(last) {
      const result = last === null || !IMPORT_RESULTS.has(last.type) ? 'left' : last.type
      imports.set(result, (imports.get(result) ?? 0) + 1)
      if (last?.type !== 'imported') return
      importedRecords.added += last.added
      importedRecords.replaced += last.replaced
      importedRecords.unchanged += last.unchanged
      importedRecords.removed += last.removed
    },
    async collect() {
      return [...ofProcess(), ...ofStore(await statisticsOf(store, clock))]
    },
  }
}

/** Null where the database does not answer: the other metrics are needed then most of all. */
async function statisticsOf(store: StatisticsVerbs, clock: () => number): Promise<StoreStatistics | null> {
  const gaveUp = Promise.withResolvers<null>()
  const timer = setTimeout(() => gaveUp.resolve(null), PATIENCE_MS)
  try {
    return await Promise.race([store.statistics(clock()), gaveUp.promise])
  } catch {
    return null
  } finally {
    clearTimeout(timer)
  }
}

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
    gauge('workspace_gateway_sessions', 'Open sessions of the database, counted up to 100,000.', openSessions, 'max'),
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
      'Connections to PostgreSQL that may be open.',
      pools.map(({ name, max }) => ({ value: max, labels: poolName(name) })),
    ),
    gauges(
      'db_client_connection_pending_requests',
      'Who waits for a connection to PostgreSQL.',
      pools.map(({ name, waiting }) => ({ value: waiting, labels: poolName(name) })),
    ),
  ]
}

function ofReplica({ isUsed, lagSeconds }: NonNullable<StoreStatistics['replica']>): readonly Metric[] {
  const used = gauge('workspace_gateway_replica_used', 'Whether reads are asked of the replica.', isUsed ? 1 : 0, 'min')
  if (lagSeconds === null) return [used]
  return [used, gauge('workspace_gateway_replica_lag_seconds', 'How old what the replica shows is.', lagSeconds, 'max')]
}
