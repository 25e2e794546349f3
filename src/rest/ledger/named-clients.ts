// Decides whose own name the ledger records: authenticated clients, and a limited number of others that were told that
// a route is being retired.
import { LRUCache } from 'lru-cache'
import type { GatewayRequest } from '../../http/request.ts'
import { CLIENTS_PER_DAY } from '../../store/rest-call-contract.ts'
import { type NameClient, REFUSED_CLIENT } from './client-name.ts'

/**
 * Names per day without a successful request: anybody can make them up, and a day has room for `CLIENTS_PER_DAY` in
 * all.
 */
const MAX_UNPROVEN = 50

/** `day` is the day of the request. */
export type NameOnDay = (request: GatewayRequest, day: string) => string

export function createNamedClients(nameOf: NameClient): NameOnDay {
  /** Clients come and go over the life of a process: the one not seen for longest makes room. */
  const proven = new LRUCache<string, true>({ max: CLIENTS_PER_DAY })
  const unproven = new Set<string>()
  let today = ''

  function mayAdd(name: string, day: string): boolean {
    if (day !== today) unproven.clear()
    today = day
    if (unproven.has(name)) return true
    if (unproven.size >= MAX_UNPROVEN) return false
    unproven.add(name)
    return true
  }

  return (request, day) => {
    const { viewer, status, failureCode } = request.record
    if (viewer !== null || status < 400) {
      const name = nameOf(request)
      if (!proven.get(name)) proven.set(name, true)
      return name
    }
    // A client that was told about the retirement will miss the route, so its name matters.
    if (failureCode !== 'ROUTE_RETIRED' && failureCode !== 'ROUTE_BROWNOUT') return REFUSED_CLIENT
    const name = nameOf(request)
    // `get` counts as a use, so a client that calls nothing else is not evicted.
    return proven.get(name) || mayAdd(name, day) ? name : REFUSED_CLIENT
  }
}
