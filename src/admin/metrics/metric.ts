// A metric and its values, as they are sent from worker to supervisor and written for Prometheus.

/** How the values of several workers become one. */
export type Aggregator = 'sum' | 'max' | 'min' | 'first' | 'average' | 'omit'

export interface MetricValue {
  readonly value: number
  readonly labels: Readonly<Record<string, string | number>>
  /** Of a part of a histogram: the metric's name and `_bucket`, `_sum` or `_count`. */
  readonly metricName?: string
}

/** The JSON form of prom-client, which adds workers up and writes the text. */
export interface Metric {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary'
  readonly aggregator: Aggregator
  readonly values: readonly MetricValue[]
}

/** Answers what the metrics are now. */
export type CollectMetrics = () => readonly Metric[] | Promise<readonly Metric[]>

export function counter(name: string, help: string, values: readonly MetricValue[]): Metric {
  return { name, help, type: 'counter', aggregator: 'sum', values }
}

export function gauge(name: string, help: string, value: number, aggregator: Aggregator = 'sum'): Metric {
  return { name, help, type: 'gauge', aggregator, values: [{ value, labels: {} }] }
}

export function gauges(
  name: string,
  help: string,
  values: readonly MetricValue[],
  aggregator: Aggregator = 'sum',
): Metric {
  return { name, help, type: 'gauge', aggregator, values }
}
