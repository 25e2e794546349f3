// Counts calls of REST routes by client since this process started, for Prometheus.
import { type CollectMetrics, counter } from '../../admin/metrics/metric.ts'
import { isAssignedName, OTHER_CLIENT } from '../../store/rest-call-contract.ts'

/** Each client adds one series per route that it calls, for as long as the process lives. */
const MAX_CLIENTS = 100

export interface CallMetrics {
  readonly count: (route: string, client: string) => void
  readonly collect: CollectMetrics
}

export function createCallMetrics(): CallMetrics {
  const clients = new Map<string, Map<string, number>>()

  return {
    count(route, client) {
      const isNamed = isAssignedName(client) || clients.has(client) || clients.size < MAX_CLIENTS
      const name = isNamed ? client : OTHER_CLIENT
      const routes = clients.get(name) ?? new Map<string, number>()
      clients.set(name, routes)
      routes.set(route, (routes.get(route) ?? 0) + 1)
    },
    collect: () => [
      counter(
        'workspace_gateway_rest_calls_total',
        'Calls of REST routes, by client; clients are named as in the ledger.',
        [...clients].flatMap(([client, routes]) =>
          [...routes].map(([route, value]) => ({ value, labels: { route, client } })),
        ),
      ),
    ],
  }
}
