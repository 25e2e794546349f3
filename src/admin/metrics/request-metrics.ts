// Counts requests by route, GraphQL operation, status, and cache hit or miss. It runs for every request.
import { FAILURE_CODES, statusOf } from '../../errors.ts'
import type { ObserveResponse } from '../../http/handler.ts'
import type { RequestRecord, Route } from '../../http/request-record.ts'
import { knownMethod } from '../known-method.ts'
import { createHistogram, type Histogram, histogram, observeDuration } from './histogram.ts'
import { type CollectMetrics, counter, type MetricValue } from './metric.ts'
import { createOperationNames } from './operation-names.ts'

/** Failures of the gateway itself. They share few statuses, so each gets its own series. */
const OUR_FAILURES = FAILURE_CODES.filter((code) => statusOf(code) >= 500)

/** The counts of one outcome over one scheme. */
interface Cell {
  readonly durations: Histogram
  /** Replies made, cache hits, and bytes of both. */
  readonly counts: Float64Array
}

const MADE = 0
const KEPT = 1
const BYTES = 2

/**
 * Indexed by outcome, plus 1,000 for requests over TLS. An outcome is a status, or from 600 on one of `OUR_FAILURES`.
 */
type Cells = (Cell | undefined)[]
const FAILURE = 600
const TLS = 1_000

interface Series {
  readonly method: string
  /** Null for a path without a route. */
  readonly path: string | null
  readonly cells: Cells
}

export interface RequestMetrics {
  readonly observe: ObserveResponse
  readonly collect: CollectMetrics
}

/** `basePath` precedes each route in the labels, as the client sees it. */
export function createRequestMetrics(basePath: string): RequestMetrics {
  const routes = new Map<Route, Series>()
  /** Keyed by method, for requests without a route. */
  const unrouted = new Map<string, Series>()
  const operations = new Map<string, Cells>()
  const operationNames = createOperationNames()

  function seriesOf({ route }: RequestRecord, method: string): Series {
    const known = route === null ? unrouted.get(method) : routes.get(route)
    if (known) return known
    const name = knownMethod(method)
    if (route === null) return unrouted.get(name) ?? add(unrouted, name, { method: name, path: null, cells: [] })
    const path = `${basePath}${route.path}`
    // Several methods of a path may map to the same label.
    const same = [...routes.values()].find((series) => series.method === name && series.path === path)
    return add(routes, route, same ?? { method: name, path, cells: [] })
  }

  function observeOperation(record: RequestRecord): void {
    const name = operationNames.nameOf(record)
    const cells = operations.get(name) ?? add(operations, name, [])
    count(cellOf(cells, record.status), record)
  }

  return {
    observe({ record, method, client }) {
      const { cells } = seriesOf(record, method)
      const outcome = outcomeOf(record)
      count(cellOf(cells, client.scheme === 'https' ? outcome + TLS : outcome), record)
      if (record.route?.path === '/graphql' && record.viewer !== null) observeOperation(record)
    },
    collect() {
      const series = [...new Set([...routes.values(), ...unrouted.values()])]
      const cells = series.flatMap((each) => cellsOf(each.cells, labelsOf(each)))
      const operationCells = [...operations].flatMap(([name, each]) =>
        cellsOf(each, (status) => ({ graphql_operation_name: name, http_response_status_code: status })),
      )
      return [
        histogram(
          'http_server_request_duration_seconds',
          'Duration of HTTP server requests, from the request headers to the end of the answer.',
          durationsOf(cells),
        ),
        counter(
          'workspace_gateway_replies_total',
          'Replies, by whether they came from the reply cache.',
          replies(cells),
        ),
        counter(
          'workspace_gateway_response_body_bytes_total',
          'Bytes of response bodies written to connections.',
          cells.map(([{ counts }, labels]) => ({ labels, value: counts[BYTES] ?? 0 })),
        ),
        histogram(
          'workspace_gateway_graphql_operation_duration_seconds',
          'Duration of GraphQL requests of signed-in users, by operation; beyond a bounded number of names, operations count as _OTHER.',
          durationsOf(operationCells),
        ),
        counter(
          'workspace_gateway_graphql_replies_total',
          'Replies to GraphQL requests of signed-in users, by operation and by whether they came from the reply cache.',
          replies(operationCells),
        ),
      ]
    },
  }
}

function add<K, V>(map: Map<K, V>, key: K, value: V): V {
  map.set(key, value)
  return value
}

function cellOf(cells: Cells, at: number): Cell {
  const known = cells[at]
  if (known) return known
  const cell = { durations: createHistogram(), counts: new Float64Array(BYTES + 1) }
  cells[at] = cell
  return cell
}

function outcomeOf({ status, failureCode }: RequestRecord): number {
  if (status < 500 || failureCode === null) return status
  const at = OUR_FAILURES.indexOf(failureCode)
  return at < 0 ? status : FAILURE + at
}

function count({ durations, counts }: Cell, { durationMs, sentBytes, isKept }: RequestRecord): void {
  observeDuration(durations, durationMs)
  const at = isKept ? KEPT : MADE
  counts[at] = (counts[at] as number) + 1
  counts[BYTES] = (counts[BYTES] as number) + sentBytes
}

type Labels = MetricValue['labels']
type LabelledCells = readonly (readonly [cell: Cell, labels: Labels])[]

/** Calls `toLabels` with the outcome and whether the requests came over TLS. */
function cellsOf(cells: Cells, toLabels: (outcome: number, isTls: boolean) => Labels): LabelledCells {
  return [...cells.entries()].flatMap(([at, cell]) =>
    cell === undefined ? [] : [[cell, toLabels(at % TLS, at >= TLS)] as const],
  )
}

function labelsOf({ method, path }: Series): (outcome: number, isTls: boolean) => Labels {
  return (outcome, isTls) => {
    const failure = OUR_FAILURES[outcome - FAILURE]
    const status = failure === undefined ? outcome : statusOf(failure)
    return {
      http_request_method: method,
      // Prometheus treats an empty label like a missing one.
      http_route: path ?? '',
      http_response_status_code: status,
      url_scheme: isTls ? 'https' : 'http',
      ...(status >= 500 ? { error_type: failure ?? status } : {}),
    }
  }
}

function durationsOf(cells: LabelledCells): readonly (readonly [Histogram, Labels])[] {
  return cells.map(([{ durations }, labels]) => [durations, labels])
}

function replies(cells: LabelledCells): readonly MetricValue[] {
  return cells.flatMap(([{ counts }, labels]) => [
    { labels: { ...labels, reply: 'made' }, value: counts[MADE] ?? 0 },
    { labels: { ...labels, reply: 'kept' }, value: counts[KEPT] ?? 0 },
  ])
}
