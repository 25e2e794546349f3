// Reads the ledger for display: its rows by day, and their totals.
import { restCallDayPages } from '../../store/paging/paging.ts'
import type { RestCalls, RestCallVerbs } from '../../store/rest-call-contract.ts'
import { REST_ROUTES } from '../routes.ts'

/** UTC days as `2026-01-31`; null for no bound. */
export interface LedgerPeriod {
  readonly from: string | null
  /** Exclusive. */
  readonly to: string | null
}

/** A row of the ledger with the GraphQL twin of its route. */
export interface LedgerRow extends RestCalls {
  readonly twin: string
}

/** Yields all rows of these days, in order of day, route and client. */
export async function* ledgerRows(
  store: Pick<RestCallVerbs, 'restCallDays' | 'restCallsOf'>,
  { from, to }: LedgerPeriod,
): AsyncGenerator<LedgerRow> {
  for await (const days of restCallDayPages(store)) {
    const asked = days.filter((day) => (from === null || day >= from) && (to === null || day < to))
    for (const calls of await store.restCallsOf(asked)) yield { ...calls, twin: twinOf(calls.route) }
  }
}

/**
 * Sums the calls of each client and route over all of these days. Routes are in the order of the contract, clients with
 * most calls first.
 */
export async function ledgerTotals(rows: AsyncIterable<LedgerRow>): Promise<readonly Omit<LedgerRow, 'day'>[]> {
  const totals = new Map<string, Omit<LedgerRow, 'day'>>()
  for await (const { day: _, ...row } of rows) {
    const key = `${row.route} ${row.client}`
    const sum = totals.get(key)
    const lastSeen = Math.max(row.lastSeen, sum?.lastSeen ?? 0)
    totals.set(key, { ...row, count: row.count + (sum?.count ?? 0), lastSeen })
  }
  return [...totals.values()].sort(
    (a, b) => placeOf(a.route) - placeOf(b.route) || b.count - a.count || (a.client < b.client ? -1 : 1),
  )
}

function twinOf(route: string): string {
  return REST_ROUTES[placeOf(route)]?.twin ?? ''
}

/** A route that a newer version has counted comes after all others. */
function placeOf(route: string): number {
  const place = REST_ROUTES.findIndex(({ method, path }) => `${method} ${path}` === route)
  return place === -1 ? REST_ROUTES.length : place
}
