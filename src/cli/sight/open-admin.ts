// Opens the admin port of this process or, in a worker, answers the questions of the supervisor, which owns the port.
import cluster from 'node:cluster'
import { isIPv6 } from 'node:net'
import type { Logger } from 'pino'
import type { HealthServices } from '../../admin/health.ts'
import { inTime } from '../../admin/metrics/in-time.ts'
import type { Metric } from '../../admin/metrics/metric.ts'
import { readiness } from '../../admin/metrics/state-metrics.ts'
import { GatewayError, UsageError } from '../../errors.ts'
import type { ServeConfig } from '../options/serve-options.ts'
import { answerSupervisor, type WorkerState } from '../workers/worker-questions.ts'
import type { ProcessMetrics } from './metrics.ts'

type Addresses = Pick<ServeConfig, 'host' | 'port' | 'adminHost' | 'adminPort'>

/**
 * Throws `UsageError` when the admin port is the client port. Checked early: listening fails only after a database was
 * created.
 */
export function requireOwnAdminPort({ host, port, adminHost, adminPort }: Addresses): void {
  if (port === 0 || port !== adminPort) return
  if (host !== adminHost && !coversHost(host, adminHost) && !coversHost(adminHost, host)) return
  throw new UsageError(`--admin-port: ${port} is also the --port of clients: choose another`)
}

/** Whether `address` is a wildcard address that includes `host`. `::` accepts IPv4 connections too. */
function coversHost(address: string, host: string): boolean {
  return address === '::' || (address === '0.0.0.0' && !isIPv6(host))
}

/** Serves until it is disposed of. Null without `--admin-port`. */
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
  const state = () => stateOf(collect, health)
  if (cluster.isWorker) return answerSupervisor(state)
  const { openAdminServer } = await import('./admin-server.ts')
  const { toText } = await import('../../admin/metrics/process-metrics.ts')
  return openAdminServer(
    { ...config, adminPort },
    { ...health, metrics: async () => toText((await state()).metrics) },
    log,
  )
}

/** Collects both concurrently, so that the caller waits for an unavailable database only once. */
async function stateOf(collect: () => Promise<readonly Metric[]>, health: HealthServices): Promise<WorkerState> {
  const [metrics, isReady] = await Promise.all([collect(), isReadyInTime(health)])
  return { metrics: [...metrics, readiness(isReady)], isReady }
}

async function isReadyInTime({ ping, isDraining }: HealthServices): Promise<boolean> {
  if (isDraining()) return false
  const answered = await inTime(async () => {
    await ping()
    return true
  })
  return answered ?? false
}
