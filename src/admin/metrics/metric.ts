// A metric and its values, in the form that workers send to the supervisor and that is written for Prometheus.

/** How the values of several workers are combined. */
export type Aggregator = 'sum' | 'max' | 'min' | 'first' | 'average' | 'omit'

export interface MetricValue {
  readonly value: number
  readonly labels: Readonly<Record<string, string | number>>
  /** Set for a part of a histogram: the metric's name with `_bucket`, `_sum` or `_count`. */
  readonly metricName?: string
}

/** The JSON form of prom-client, which aggregates the workers and writes the text. */
export interface Metric {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary'
  readonly aggregator: Aggregator
  readonly values: readonly MetricValue[]
}

/** Returns the current metrics. */
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
