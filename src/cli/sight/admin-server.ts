// Serves the admin port on a listener of its own, so that clients cannot reach it and their load does not delay it.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Logger } from 'pino'
import { type AdminServices, createAdminEndpoints } from '../../admin/admin-endpoints.ts'
import { METRICS_TYPE } from '../../admin/metrics/process-metrics.ts'
import { isLoopbackBinding } from '../../auth/guards/loopback.ts'
import { MachineError } from '../../errors.ts'
import { createInFlightBytes } from '../../http/limits/in-flight-bytes.ts'
import { createPipeline } from '../../http/pipeline.ts'
import { createHttpServer } from '../../http/server/server.ts'
import { createReport } from '../log.ts'
import { readLedger, type ServedStoreConfig } from '../retirement/read-ledger.ts'
import { packageVersion } from '../serving/package-version.ts'

const MAX_BODY_BYTES = 256
/** A separate in-flight budget, not shared with clients, and far more than scrapes need. */
const IN_FLIGHT_BYTES = 33_554_432
const SEND_TIMEOUT_MS = 20_000

export interface AdminAddress {
  readonly adminHost: string
  readonly adminPort: number
  /** The option that sets the port, for the error message. */
  readonly portOption?: string
}

/** Listens until it is disposed of. Throws `MachineError` when it cannot listen on the port. */
export async function openAdminServer(
  { adminHost: host, adminPort: port, portOption = '--admin-port', ...database }: AdminAddress & ServedStoreConfig,
  services: Pick<AdminServices, 'metrics' | 'ping' | 'isDraining'>,
  log: Logger,
): Promise<AsyncDisposable> {
  const endpoints = createAdminEndpoints({
    ...services,
    ledger: (days) => readLedger(database, days, Date.now()),
    version: packageVersion(),
    metricsType: METRICS_TYPE,
    isLoopback: isLoopbackBinding(host),
  })
  const handle = createPipeline(endpoints, {
    basePath: '',
    corsOrigins: [],
    reportRefusedOrigin() {},
    report: createReport(log, () => performance.now()),
  })
  const server = createHttpServer(handle, {
    bodyLimitBytes: MAX_BODY_BYTES,
    inFlight: createInFlightBytes(IN_FLIGHT_BYTES),
    sendTimeoutMs: SEND_TIMEOUT_MS,
  })
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    throw new MachineError(`${portOption}: cannot listen on port ${port} of ${host}: ${(error as Error).message}`)
  }
  const address = server.address() as AddressInfo
  log.info(
    { url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}` },
    'metrics and health are served',
  )
  return {
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
