// Who still calls which REST route: counted in this process, added to the database in batches off the path of requests.
import { randomUUID } from 'node:crypto'
import type { CollectMetrics } from '../../admin/metrics/metric.ts'
import type { GatewayRequest } from '../../http/request.ts'
import type { Route } from '../../http/request-record.ts'
import {
  CLIENTS_PER_DAY,
  OTHER_CLIENT,
  type RestCallBatch,
  type RestCalls,
  type RestCallVerbs,
} from '../../store/rest-call-contract.ts'
import { REST_ROUTES } from '../routes.ts'
import { createCallMetrics } from './call-metrics.ts'
import { clientNameOf, REFUSED_CLIENT } from './client-name.ts'

/** What a process that is killed loses at most. */
const FLUSH_EVERY_MS = 1_000
/** Rows that wait at most; further clients are counted together. */
const MAX_WAITING = CLIENTS_PER_DAY * REST_ROUTES.length
const DAY_MS = 86_400_000
const PURGE_EVERY_MS = 3_600_000
const PURGED_PER_WRITE = 1_000

export interface LedgerOptions {
  /** Older days go. */
  readonly retentionMs: number
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** Calls could not be written: said once until they can. They wait, and nothing of them is lost while the process lives. */
  readonly onFailure: (error: unknown) => void
}

export interface Ledger extends AsyncDisposable {
  /** Counts a request that was answered, if it was one of a REST route. */
  readonly observe: (request: GatewayRequest) => void
  /** What this process has counted. */
  readonly collect: CollectMetrics
  /** Resolves when all that was counted is durable, or could not be written now. */
  readonly flush: () => Promise<void>
}

/** Disposing it writes what still waits. */
export function openLedger(store: RestCallVerbs, { retentionMs, clock, onFailure }: LedgerOptions): Ledger {
  const writer = randomUUID()
  const names = new Map<Route, string | null>()
  const metrics = createCallMetrics()
  let waiting = new Map<string, RestCalls>()
  /** Its fate is not known until it was acknowledged: it is sent again as it is. */
  let unacknowledged: RestCallBatch | null = null
  let sequence = 0
  let purgedAt = Number.NEGATIVE_INFINITY
  let writing: Promise<void> = Promise.resolve()
  let isFailing = false
  const today = { day: '', endsAt: 0 }

  function dayAt(now: number): string {
    if (now >= today.endsAt || now < today.endsAt - DAY_MS) {
      today.day = dayOf(now)
      today.endsAt = Date.parse(today.day) + DAY_MS
    }
    return today.day
  }

  /** Null for what is no route of the contract. */
  function nameOf(route: Route): string | null {
    const known = names.get(route)
    if (known !== undefined) return known
    const method = route.method === 'HEAD' ? 'GET' : route.method
    const isRest = REST_ROUTES.some((row) => row.method === method && row.path === route.path)
    const name = isRest ? `${method} ${route.path}` : null
    names.set(route, name)
    return name
  }

  function observe(request: GatewayRequest): void {
    const { route } = request.record
    const name = route && nameOf(route)
    if (name === null) return
    const now = clock()
    const call = { day: dayAt(now), route: name, client: isKnown(request) ? clientNameOf(request) : REFUSED_CLIENT }
    metrics.count(call.route, call.client)
    const key = keyOf(call)
    const isNamed = waiting.has(key) || waiting.size < MAX_WAITING
    const counted = isNamed ? call : { ...call, client: OTHER_CLIENT }
    const row = waiting.get(isNamed ? key : keyOf(counted))
    waiting.set(isNamed ? key : keyOf(counted), { ...counted, count: (row?.count ?? 0) + 1, lastSeen: now })
  }

  async function write(): Promise<void> {
    while (unacknowledged !== null || waiting.size > 0) {
      if (unacknowledged === null) {
        sequence += 1
        unacknowledged = { writer, sequence, calls: [...waiting.values()] }
        waiting = new Map()
      }
      await store.addRestCalls(unacknowledged)
      unacknowledged = null
    }
  }

  async function purge(): Promise<void> {
    if (clock() - purgedAt < PURGE_EVERY_MS) return
    purgedAt = clock()
    const before = dayOf(purgedAt - retentionMs)
    while ((await store.removeRestCalls(before, PURGED_PER_WRITE)) === PURGED_PER_WRITE) {}
  }

  function flush(): Promise<void> {
    writing = writing.then(async () => {
      try {
        await write()
        await purge()
        isFailing = false
      } catch (error) {
        if (!isFailing) onFailure(error)
        isFailing = true
      }
    })
    return writing
  }

  const timer = setInterval(flush, FLUSH_EVERY_MS)
  timer.unref()

  return {
    observe,
    collect: metrics.collect,
    flush,
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await flush()
    },
  }
}

/** Whether somebody let the client in, or it was told that the route is being retired: then it is one that will be missed. */
function isKnown({ record }: GatewayRequest): boolean {
  const { viewer, status, failureCode } = record
  return viewer !== null || status < 400 || failureCode === 'ROUTE_RETIRED' || failureCode === 'ROUTE_BROWNOUT'
}

function keyOf({ day, route, client }: Pick<RestCalls, 'day' | 'route' | 'client'>): string {
  return `${day} ${route} ${client}`
}

/** Of UTC. */
function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}
