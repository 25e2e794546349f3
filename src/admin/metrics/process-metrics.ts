// Collects Node's process metrics (memory, garbage collection, event loop, file descriptors); prom-client aggregates
// and formats them.
import { AggregatorRegistry, collectDefaultMetrics, Registry } from 'prom-client'
import { type CollectMetrics, gauge, type Metric } from './metric.ts'

export const METRICS_TYPE = Registry.PROMETHEUS_CONTENT_TYPE

/** These iterate over every open connection at each scrape, and their names break Prometheus' rules. */
const UNWANTED = ['resources', 'handles', 'requests'].flatMap((what) => [
  `nodejs_active_${what}`,
  `nodejs_active_${what}_total`,
])

export const STARTED = 'process_start_time_seconds'

/** prom-client's own metric has whole seconds only, and is omitted when processes are aggregated. */
const STARTED_AT = gauge(
  STARTED,
  'Start time of the newest process, in seconds since the epoch.',
  performance.timeOrigin / 1_000,
  'max',
)

/** Names and meanings are those of prom-client's default metrics, which existing dashboards use. */
export function createProcessMetrics(): CollectMetrics {
  const register = new Registry()
  collectDefaultMetrics({ register })
  for (const name of [...UNWANTED, STARTED]) register.removeSingleMetric(name)
  return async () => {
    // prom-client's types declare numeric enums; the output contains strings.
    const metrics = (await register.getMetricsAsJSON()) as unknown as readonly Metric[]
    return [...metrics, STARTED_AT]
  }
}

/** Aggregates the metrics of several processes, each by its own rule. */
export function addUp(processes: readonly (readonly Metric[])[]): Promise<readonly Metric[]> {
  return AggregatorRegistry.aggregate([...processes]).getMetricsAsJSON() as unknown as Promise<readonly Metric[]>
}

/** Writes Prometheus' text format, version 0.0.4. */
export function toText(metrics: readonly Metric[]): Promise<string> {
  return AggregatorRegistry.aggregate([metrics]).metrics()
}
