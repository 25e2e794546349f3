// Supervises several worker processes on one port until the gateway stops, and rolls them on SIGHUP.
import cluster from 'node:cluster'
import { addAbortListener, once } from 'node:events'
import { createServer } from 'node:net'
import type { Logger } from 'pino'
import type { CommandIo, ExitCode } from '../io.ts'
import type { ServeConfig } from '../options/serve-options.ts'
import { untilListening } from '../serving/listen.ts'
import { logStart } from '../serving/log-start.ts'
import type { ServiceManager } from '../serving/systemd/service-manager.ts'
import type { WorkerTotals } from './add-up-workers.ts'
import { workerCount } from './worker-count.ts'
import { isReady } from './worker-messages.ts'
import { createWorkerPool } from './worker-pool.ts'

const WRONG_USAGE = 2

export interface Supervision {
  readonly stop: AbortSignal
  readonly onReload: (listener: () => void) => void
  readonly service: ServiceManager
  /** Warnings that were logged already. */
  readonly warnings: readonly string[]
}

/**
 * Supervises until `stop` is aborted or the database fails in a worker, and then ends all workers. The workers share
 * one listening socket and accept from it themselves, so a connection that one worker no longer accepts waits for
 * another. Throws `MachineError` when the first worker cannot be started for a reason that will not pass.
 */
export async function superviseWorkers(
  config: ServeConfig,
  { stdout }: CommandIo,
  log: Logger,
  { stop, onReload, service, warnings }: Supervision,
): Promise<ExitCode> {
  const lost = new AbortController()
  const ending = AbortSignal.any([stop, lost.signal])
  let totals: WorkerTotals | undefined
  await shareAddresses(config)
  const pool = createWorkerPool(config, log, {
    ending,
    onLost: () => lost.abort(),
    isSocketInherited: service.listenFd !== null,
    warnings,
    onListening: (worker) => totals?.add(worker),
  })
  // At once, because the first worker may wait for its database without end.
  using _ending = addAbortListener(ending, () => void pool.endAll())
  let rolling = Promise.resolve()
  onReload(() => {
    rolling = rolling.then(pool.replaceAll)
  })

  await using opened = new AsyncDisposableStack()
  const { adminPort } = config
  if (adminPort !== undefined) {
    const { createWorkerTotals, openTotalsAdmin } = await import('./add-up-workers.ts')
    totals = createWorkerTotals()
    opened.use(await openTotalsAdmin({ ...config, adminPort }, totals, stop, log))
  }
  // A first worker that exits by itself has written the reason to stderr, and the command ends. One that was killed, or
  // could not be started, is started again like every other.
  const first = await pool.add(({ exitCode }) => exitCode !== null)
  if (first === null) return lost.signal.aborted ? 1 : 0
  if (!isReady(first)) return first.exitCode === 0 || first.exitCode === WRONG_USAGE ? first.exitCode : 1
  for (let index = 1; index < workerCount(config) && !ending.aborted; index += 1) await pool.add()
  if (!ending.aborted) {
    stdout.write(first.announcement)
    logStart(config, log)
    service.notify('READY=1')
  }
  using _watchdog = service.startWatchdog()
  if (!ending.aborted) await once(ending, 'abort')
  service.notify('STOPPING=1')
  await pool.endAll()
  return lost.signal.aborted ? 1 : 0
}

/**
 * Adds flags to the arguments of all workers, also later ones: the last flag wins. So they share the free port that was
 * found or the inherited socket, and keep the admin port that the supervisor has open, even if the configuration file
 * changes.
 */
async function shareAddresses({ host, port, adminHost, adminPort }: ServeConfig): Promise<void> {
  const shared = port === 0 ? await freePort(host) : port
  const admin = adminPort === undefined ? [] : ['--admin-host', adminHost, '--admin-port', String(adminPort)]
  cluster.schedulingPolicy = cluster.SCHED_NONE
  // The first call puts the arguments of this process into `cluster.settings`.
  cluster.setupPrimary()
  cluster.setupPrimary({
    args: [...(cluster.settings.args ?? []), '--host', host, '--port', String(shared), ...admin],
  })
}

async function freePort(host: string): Promise<number> {
  const server = createServer().listen(0, host)
  await untilListening(server, host, 0)
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (typeof address !== 'object' || address === null) throw new Error('no port is free')
  return address.port
}
