// The ledger of REST calls by client and route: counts in memory and adds batches to the database, outside the request
// path.
import { randomUUID } from 'node:crypto'
import type { CollectMetrics } from '../../admin/metrics/metric.ts'
import type { GatewayRequest } from '../../http/request.ts'
import type { Route } from '../../http/request-record.ts'
import { type BackgroundWriter, startBackgroundWriter } from '../../store/background-writer.ts'
import type { Store } from '../../store/contract.ts'
import {
  CLIENTS_PER_DAY,
  dayOf,
  isAssignedName,
  OTHER_CLIENT,
  type RestCallBatch,
  type RestCalls,
} from '../../store/rest-call-contract.ts'
import { REST_ROUTES } from '../routes.ts'
import { createCallMetrics } from './call-metrics.ts'
import { createClientNames } from './client-name.ts'
import { createNamedClients } from './named-clients.ts'

/** Maximum number of rows that wait to be written. Beyond it, further clients are counted together. */
const MAX_WAITING = CLIENTS_PER_DAY * REST_ROUTES.length
const DAY_MS = 86_400_000

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

export interface LedgerOptions {
  /** Older days are deleted. */
  readonly retentionMs: number
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /**
   * Called when calls could not be written, once until a write succeeds. The calls wait; none is lost while the process
   * lives.
   */
  readonly onFailure: (error: unknown) => void
}

export interface Ledger extends BackgroundWriter {
  /** Counts an answered request if its route belongs to the REST contract. */
  readonly observe: (request: GatewayRequest) => void
  /** Metrics of what this process has counted. */
  readonly collect: CollectMetrics
}

type LedgerStore = Pick<Store, 'addRestCalls' | 'removeRestCalls' | 'earlierTime'>

/** Disposing writes what still waits. */
export function openLedger(store: LedgerStore, { retentionMs, clock, onFailure }: LedgerOptions): Ledger {
  const writer = randomUUID()
  const names = new Map<Route, string | null>()
  const metrics = createCallMetrics()
  const clientNameOf = createNamedClients(createClientNames())
  let waiting: Mutable<RestCalls>[] = []
  /** The newest waiting row of each route and client. */
  let rows = new Map<string, Map<string, Mutable<RestCalls>>>()
  /** The batch that was sent but not acknowledged. Whether it was written is unknown, so it is sent again unchanged. */
  let unacknowledged: RestCallBatch | null = null
  let sequence = 0
  const today = { day: '', endsAt: 0 }

  function dayAt(now: number): string {
    if (now >= today.endsAt || now < today.endsAt - DAY_MS) {
      today.day = dayOf(now)
      today.endsAt = Date.parse(today.day) + DAY_MS
    }
    return today.day
  }

  /** Returns null for a route that is not in the contract. */
  function nameOf(route: Route): string | null {
    const known = names.get(route)
    if (known !== undefined) return known
    const method = route.method === 'HEAD' ? 'GET' : route.method
    const isRest = REST_ROUTES.some((row) => row.method === method && row.path === route.path)
    const name = isRest ? `${method} ${route.path}` : null
    names.set(route, name)
    return name
  }

  /** Runs for every request, so it allocates nothing when the row exists. */
  function rowOf(day: string, route: string, client: string): Mutable<RestCalls> {
    const known = rows.get(route)?.get(client)
    if (known?.day === day) return known
    if (waiting.length >= MAX_WAITING && !isAssignedName(client)) return rowOf(day, route, OTHER_CLIENT)
    const row = { day, route, client, count: 0, lastSeen: 0 }
    rows.set(route, (rows.get(route) ?? new Map()).set(client, row))
    waiting.push(row)
    return row
  }

  function observe(request: GatewayRequest): void {
    const { route } = request.record
    const name = route && nameOf(route)
    if (name === null) return
    const now = clock()
    const day = dayAt(now)
    const client = clientNameOf(request, day)
    metrics.count(name, client)
    const row = rowOf(day, name, client)
    row.count += 1
    row.lastSeen = now
  }

  async function send(): Promise<void> {
    if (unacknowledged !== null) await store.addRestCalls(unacknowledged)
    unacknowledged = null
  }

  /** Calls that arrive during a write wait for the next one: while clients call, there is always more. */
  async function write(): Promise<void> {
    await send()
    if (waiting.length === 0) return
    sequence += 1
    unacknowledged = { writer, sequence, calls: waiting }
    waiting = []
    rows = new Map()
    await send()
  }

  const background = startBackgroundWriter({
    write,
    removeOld: async (limit) => store.removeRestCalls(dayOf((await store.earlierTime(clock())) - retentionMs), limit),
    clock,
    onFailure,
  })
  return { ...background, observe, collect: metrics.collect }
}
