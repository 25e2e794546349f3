// Collects the metrics of one process. Without --admin-port nothing is counted.
import { createEventMetrics, type EventMetrics } from '../../admin/metrics/event-metrics.ts'
import type { CollectMetrics, Metric } from '../../admin/metrics/metric.ts'
import { createRequestMetrics } from '../../admin/metrics/request-metrics.ts'
import { createStateMetrics, type WatchedState } from '../../admin/metrics/state-metrics.ts'
import type { Audit } from '../../auth/audit/audit-event.ts'
import type { GatewayWatch } from '../../gateway.ts'
import type { ObserveResponse } from '../../http/handler.ts'
import type { ReportBrokenOff } from '../../http/server/broken-off.ts'
import type { ReportRefusedConnection } from '../../http/server/server.ts'
import type { Importer } from '../../rest/import-endpoint.ts'

export interface ProcessMetrics {
  readonly observers: readonly ObserveResponse[]
  readonly watch: GatewayWatch | undefined
  /** Wraps the audit log so that its events are counted; the functions below do the same for other events. */
  readonly audited: (audit: Audit) => Audit
  readonly brokenOff: (report: ReportBrokenOff) => ReportBrokenOff
  readonly refusedConnection: (report: ReportRefusedConnection) => ReportRefusedConnection
  readonly onMalformed: EventMetrics['onMalformed'] | undefined
  readonly imported: (importer: Importer) => Importer
  /** Null without --admin-port. */
  readonly collect: (() => Promise<readonly Metric[]>) | null
}

const NO_METRICS: ProcessMetrics = {
  observers: [],
  watch: undefined,
  audited: (audit) => audit,
  brokenOff: (report) => report,
  refusedConnection: (report) => report,
  onMalformed: undefined,
  imported: (importer) => importer,
  collect: null,
}

export async function createProcessMetrics(
  isAsked: boolean,
  basePath: string,
  watched: WatchedState,
  others: readonly CollectMetrics[],
): Promise<ProcessMetrics> {
  if (!isAsked) return NO_METRICS
  const { createProcessMetrics: createNodeMetrics } = await import('../../admin/metrics/process-metrics.ts')
  const requests = createRequestMetrics(basePath)
  const state = createStateMetrics(watched)
  const events = createEventMetrics()
  const collectors = [requests.collect, state.collect, events.collect, createNodeMetrics(), ...others]
  return {
    observers: [requests.observe],
    watch: state,
    audited: (audit) => ({
      record(event) {
        events.onEvent(event)
        audit.record(event)
      },
    }),
    brokenOff: (report) => (event) => {
      events.onBrokenOff(event.reason)
      report(event)
    },
    refusedConnection: (report) => (reason, peer) => {
      events.onRefusedConnection(reason)
      report(reason, peer)
    },
    onMalformed: events.onMalformed,
    imported: (importer) => counted(importer, events),
    collect: async () => (await Promise.all(collectors.map((collect) => collect()))).flat(),
  }
}

function counted(importer: Importer, metrics: EventMetrics): Importer {
  return {
    run(input, options) {
      const running = importer.run(input, options)
      void running?.then(
        ({ ended }) => void ended.then(metrics.onImport),
        () => {},
      )
      return running
    },
    stop: importer.stop,
  }
}
