// The part of the store contract that covers the REST-call ledger: per day, how often each client called each route.
import type { Awaitable } from './awaitable.ts'

export interface RestCalls {
  /** In UTC, such as `2026-01-31`. */
  readonly day: string
  /** Method and path, such as `GET /projects`. */
  readonly route: string
  readonly client: string
  readonly count: number
  /** Milliseconds since the epoch. */
  readonly lastSeen: number
}

/**
 * Calls to count. The writer's name and its growing sequence number identify a batch, so a retry counts it only once.
 */
export interface RestCallBatch {
  readonly writer: string
  readonly sequence: number
  readonly calls: readonly RestCalls[]
}

/** Maximum number of clients per day with rows of their own. Calls of all others are counted under `OTHER_CLIENT`. */
export const CLIENTS_PER_DAY = 500
export const OTHER_CLIENT = '(other)'

/**
 * Whether the ledger itself has assigned this name, such as `OTHER_CLIENT`: no client's own name has parentheses. These
 * names are few and need none of the places, so that refused calls are seen on a full day too.
 */
export function isAssignedName(client: string): boolean {
  return client.startsWith('(')
}

/**
 * The UTC day of a time in milliseconds since the epoch. A negative time gives the first day, because a retention may
 * reach further back than a `Date` can.
 */
export function dayOf(time: number): string {
  return new Date(Math.max(0, time)).toISOString().slice(0, 10)
}

export interface RestCallVerbs {
  /** Adds a batch to the counts. Idempotent: a batch that is not newer than its writer's last one changes nothing. */
  readonly addRestCalls: (batch: RestCallBatch) => Awaitable<void>
  /** At most `limit` days that have calls and follow `after` ('' for the first), oldest first. */
  readonly restCallDays: (after: string, limit: number) => Awaitable<readonly string[]>
  /** All calls of these days, in order of day, route and client. */
  readonly restCallsOf: (days: readonly string[]) => Awaitable<readonly RestCalls[]>
  /**
   * Removes the rows of days before `before` and the writers that have written nothing since then, at most `limit` rows
   * of each. Returns the number of removed call rows.
   */
  readonly removeRestCalls: (before: string, limit: number) => Awaitable<number>
}

/** A client that has a row on this day. */
export type KnownClient = Pick<RestCalls, 'day' | 'client'>

/**
 * Merges calls into one row per day, route and client. Once a day has `CLIENTS_PER_DAY` named clients, the calls of
 * further clients go to `OTHER_CLIENT`. `known` lists the clients that have a stored row on those days.
 */
export function withinBounds(calls: readonly RestCalls[], known: readonly KnownClient[]): readonly RestCalls[] {
  const clients = new Map<string, Set<string>>()
  for (const { day, client } of known) if (!isAssignedName(client)) clientsOf(day).add(client)
  const rows = new Map<string, RestCalls>()
  for (const call of calls) {
    const there = clientsOf(call.day)
    const isNamed = isAssignedName(call.client) || there.has(call.client) || there.size < CLIENTS_PER_DAY
    const client = isNamed ? call.client : OTHER_CLIENT
    if (!isAssignedName(client)) there.add(client)
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
