// Who answers on the admin port: this process, or its supervisor, who asks it.
import cluster from 'node:cluster'
import { isIPv6 } from 'node:net'
import type { Logger } from 'pino'
import type { HealthServices } from '../../admin/health.ts'
import { GatewayError, UsageError } from '../../errors.ts'
import type { ServeConfig } from '../options/serve-options.ts'
import { answerSupervisor } from '../workers/worker-questions.ts'
import type { ProcessMetrics } from './metrics.ts'

type Addresses = Pick<ServeConfig, 'host' | 'port' | 'adminHost' | 'adminPort'>

/** Throws `UsageError` where the admin port is the one of clients: told when it cannot be had, a database was made already. */
export function requireOwnAdminPort({ host, port, adminHost, adminPort }: Addresses): void {
  if (port === 0 || port !== adminPort) return
  if (host !== adminHost && !coversHost(host, adminHost) && !coversHost(adminHost, host)) return
  throw new UsageError(`--admin-port: ${port} is the --port of clients: choose another`)
}

/** Whether it is all addresses of the machine, with that of `host`. `::` takes connections of IPv4 too. */
function coversHost(address: string, host: string): boolean {
  return address === '::' || (address === '0.0.0.0' && !isIPv6(host))
}

/** Until it is disposed of. Null without `--admin-port`. */
export async function openAdmin(
  config: ServeConfig,
  { collect }: ProcessMetrics,
  { isListening, ping, isDraining }: HealthServices & { readonly isListening: () => boolean },
  log: Logger,
): Promise<AsyncDisposable | null> {
  const { adminPort } = config
  if (adminPort === undefined || collect === null) return null
  const health: HealthServices = {
    isDraining,
    async ping() {
      if (!isListening()) throw new GatewayError('UNAVAILABLE', { retryAfterSeconds: 1 })
      await ping()
    },
  }
  if (cluster.isWorker) {
    return answerSupervisor(async () => ({ metrics: await collect(), isReady: await isReady(health) }))
  }
  const { openAdminServer } = await import('./admin-server.ts')
  const { toText } = await import('../../admin/metrics/process-metrics.ts')
  return openAdminServer({ ...config, adminPort }, { ...health, metrics: async () => toText(await collect()) }, log)
}

async function isReady({ ping, isDraining }: HealthServices): Promise<boolean> {
  if (isDraining()) return false
  try {
    await ping()
    return true
  } catch {
    return false
  }
}
