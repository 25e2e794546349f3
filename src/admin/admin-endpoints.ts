// Defines the endpoints of the admin port: for the machines that operate a gateway, separate from its clients.
import { isLoopbackAddress, isLoopbackHost } from '../auth/guards/loopback.ts'
import { GatewayError } from '../errors.ts'
import type { Endpoint, Handler } from '../http/handler.ts'
import { jsonResponse, NO_STORE } from '../http/response.ts'
import { createHealthEndpoints, type HealthServices } from './health.ts'
import { type LedgerTotal, ledgerPage } from './ledger-page.ts'

/** Days that the page about REST calls covers. */
const LEDGER_DAYS = 30

export interface AdminServices extends HealthServices {
  readonly version: string
  /** In Prometheus' text format. */
  readonly metrics: () => Promise<string>
  /** The media type of that text. */
  readonly metricsType: string
  /** The ledger of the last days: callers by REST route, in the order of the contract. */
  readonly ledger: (days: number) => Promise<readonly LedgerTotal[]>
  /**
   * Whether the port is reachable from this machine only. Then a request that names another host is refused (DNS
   * rebinding).
   */
  readonly isLoopback: boolean
}

export function createAdminEndpoints(services: AdminServices): readonly Endpoint[] {
  const { version, metrics, metricsType, isLoopback, ledger } = services
  const endpoints: readonly Endpoint[] = [
    ...createHealthEndpoints(services),
    {
      method: 'GET',
      path: '/version',
      handle: async () => jsonResponse({ version, node: process.version }, NO_STORE),
    },
    {
      method: 'GET',
      path: '/metrics',
      handle: async () => ({
        status: 200,
        headers: { 'content-type': metricsType, ...NO_STORE },
        body: await metrics(),
      }),
    },
    {
      method: 'GET',
      path: '/ledger',
      handle: async () => ledgerPage(await ledger(LEDGER_DAYS), LEDGER_DAYS),
    },
  ]
  return isLoopback ? endpoints.map((each) => ({ ...each, handle: forLoopbackHosts(each.handle) })) : endpoints
}

function forLoopbackHosts(handle: Handler): Handler {
  return async (request) => {
    if (!isAllowedHost(request.client.host)) {
      throw new GatewayError('BAD_REQUEST', {
        message:
          'The Host header does not name this machine, and this port listens on this machine only: use localhost, 127.0.0.1 or [::1].',
      })
    }
    return handle(request)
  }
}

/** A page of another site always sends the host name of that site. Health checks send none, or an address. */
function isAllowedHost(host: string): boolean {
  const name = host.replace(/:\d{1,5}$/, '').replace(/^\[|\]$/g, '')
  return host === '' || isLoopbackHost(host) || isLoopbackAddress(name)
}
