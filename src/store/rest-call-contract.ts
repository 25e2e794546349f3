// The store's part about the ledger: how often each client called each REST route, a row a day.
import type { Awaitable } from './awaitable.ts'

export interface RestCalls {
  /** Of UTC, as `2026-01-31`. */
  readonly day: string
  /** Method and path: `GET /projects`. */
  readonly route: string
  readonly client: string
  readonly count: number
  /** Milliseconds since the epoch. */
  readonly lastSeen: number
}

/** Calls to be counted: the same batch, named by who counted them and by a number that grows, counts once. */
export interface RestCallBatch {
  readonly writer: string
  readonly sequence: number
  readonly calls: readonly RestCalls[]
}

/** Clients of one day that have rows of their own; calls of further ones are counted together under `OTHER_CLIENT`. */
export const CLIENTS_PER_DAY = 500
export const OTHER_CLIENT = '(other)'

/** Of milliseconds since the epoch; the first day for what is older, since a retention may reach further back than a date can. */
export function dayOf(time: number): string {
  return new Date(Math.max(0, time)).toISOString().slice(0, 10)
}

export interface RestCallVerbs {
  /** Adds to what is there. Idempotent: a batch that is not newer than its writer's last one changes nothing. */
  readonly addRestCalls: (batch: RestCallBatch) => Awaitable<void>
  /** The days that have calls, oldest first: those after `after` ('' for the first), at most `limit`. */
  readonly restCallDays: (after: string, limit: number) => Awaitable<readonly string[]>
  /** All calls of these days, in order of day, route and client. */
  readonly restCallsOf: (days: readonly string[]) => Awaitable<readonly RestCalls[]>
  /** Removes calls of days before `before`, and the writers that wrote nothing since then, at most `limit` rows of each; answers how many calls' rows. */
  readonly removeRestCalls: (before: string, limit: number) => Awaitable<number>
}

/** A client that has, on its day, a row. */
export type KnownClient = Pick<RestCalls, 'day' | 'client'>

/** One row for each day, route and client, none for a client that comes after the last one that its day has room for. */
export function withinBounds(calls: readonly RestCalls[], known: readonly KnownClient[]): readonly RestCalls[] {
  const clients = new Map<string, Set<string>>()
  for (const { day, client } of known) clientsOf(day).add(client)
  const rows = new Map<string, RestCalls>()
  for (const call of calls) {
    const there = clientsOf(call.day)
    const isNamed = call.client === OTHER_CLIENT || there.has(call.client) || there.size < CLIENTS_PER_DAY
    const client = isNamed ? call.client : OTHER_CLIENT
    if (client !== OTHER_CLIENT) there.add(client)
    const key = JSON.stringify([call.day, call.route, client])
    const row = rows.get(key)
    rows.set(key, {
      ...call,
      client,
      count: call.count + (row?.count ?? 0),
      lastSeen: Math.max(call.lastSeen, row?.lastSeen ?? 0),
    })
  }
  return [...rows.values()]

  function clientsOf(day: string): Set<string> {
    const found = clients.get(day) ?? new Set()
    clients.set(day, found)
    return found
  }
}
