// A histogram of durations: an observation costs a few comparisons and two additions.
import type { Metric, MetricValue } from './metric.ts'

/** Upper bounds in milliseconds. A cache hit takes a tenth of a millisecond. */
const BOUNDS_MS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000] as const

/** One slot per bucket, one for values above all bounds, one for the sum. */
export type Histogram = Float64Array

const ABOVE = BOUNDS_MS.length
const SUM = ABOVE + 1

export function createHistogram(): Histogram {
  return new Float64Array(SUM + 1)
}

export function observeDuration(histogram: Histogram, milliseconds: number): void {
  let at = 0
  // Most durations fall into the first buckets.
  while (at < ABOVE && milliseconds > (BOUNDS_MS[at] as number)) at += 1
  histogram[at] = (histogram[at] as number) + 1
  histogram[SUM] = (histogram[SUM] as number) + milliseconds
}

/** The metric that these histograms make up, each with its labels. */
export function histogram(
  name: string,
  help: string,
  series: readonly (readonly [histogram: Histogram, labels: MetricValue['labels']])[],
): Metric {
  const values = series.flatMap(([durations, labels]) => valuesOf(name, durations, labels))
  return { name, help, type: 'histogram', aggregator: 'sum', values }
}

/** Values in seconds, cumulative, as Prometheus expects them. */
function valuesOf(name: string, durations: Histogram, labels: MetricValue['labels']): readonly MetricValue[] {
  let count = 0
  const buckets = [...BOUNDS_MS.map((bound) => bound / 1_000), '+Inf'].map((le, at) => {
    count += durations[at] ?? 0
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count }
  })
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: (durations[SUM] ?? 0) / 1_000 },
    { metricName: `${name}_count`, labels, value: count },
  ]
}
