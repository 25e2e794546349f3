// serve: checks the configuration, then serves in this process or supervises the workers that do.
import cluster from 'node:cluster'
import type { CommandIo, ExitCode } from '../io.ts'
import { createLog } from '../log.ts'
import { exposureWarnings } from '../login-exposure.ts'
import type { ServeConfig } from '../options/serve-options.ts'
import { withInheritedSocket } from '../serving/listen.ts'
import { serveHere } from '../serving/serve-here.ts'
import { planServe } from '../serving/serve-plan.ts'
import { readServiceManager } from '../serving/systemd/service-manager.ts'
import { createLogOutput, oneWriteAtATime } from '../sight/log-output.ts'
import { isLaterWorker, requireOwnSupervisor } from '../workers/announced-end.ts'
import { workerCount } from '../workers/worker-count.ts'
import { superviseWorkers } from '../workers/workers.ts'

/** What the command line passes on from the process. */
export interface ServeSignals {
  /** Once this was called, a signal aborts the returned `AbortSignal` instead of ending the process. */
  readonly stopSignal: () => AbortSignal
  /** Calls `listener` at each SIGHUP. Before the first call of `onReload`, SIGHUP ends the process. */
  readonly onReload: (listener: () => void) => void
  /** The process ends after `report` was called with an exception that nothing caught. */
  readonly onUncaught: (report: (error: unknown) => void) => void
  /** For variables that other standards define, not this program: `OTEL_…` and those of systemd. */
  readonly environment: Readonly<Record<string, string | undefined>>
}

/**
 * Serves until it is stopped or the database fails. Returns 0, or 1 when the database failed; with workers also the
 * exit code of a first worker that could not start. Throws `UsageError` for a wrong configuration.
 */
export async function runServe(
  asked: ServeConfig,
  io: CommandIo,
  { stopSignal, onReload, onUncaught, environment }: ServeSignals,
): Promise<ExitCode> {
  requireOwnSupervisor(environment)
  const stderr = cluster.isWorker || workerCount(asked) > 1 ? oneWriteAtATime(io.stderr) : io.stderr
  const logOutput = createLogOutput(stderr, (bytes) =>
    log.warn({ bytes }, 'a part of the log was lost: its reader was too slow'),
  )
  const log = createLog(asked, { ...io, stderr: logOutput })
  onUncaught((error) => log.fatal({ err: error }, 'an unexpected error ends the process'))
  const service = readServiceManager(environment, (error) =>
    log.warn({ err: error }, 'systemd-notify failed: the service manager does not know the state of the gateway'),
  )
  const plan = await planServe(withInheritedSocket(asked, service), environment)
  // Not before: a file of the configuration may be a pipe whose writer never comes, and reading it heeds no signal.
  const stop = stopSignal()
  const { config } = plan
  const warnings = exposureWarnings(config, process.getuid?.())
  if (cluster.isPrimary) for (const warning of warnings) log.warn(warning)
  if (cluster.isPrimary && workerCount(config) > 1)
    return superviseWorkers(config, io, log, { stop, onReload, service, warnings })
  // A worker ignores SIGHUP: a signal to the whole process group is meant for the supervisor, which rolls its workers.
  if (cluster.isWorker) onReload(() => {})
  return serveHere(plan, { io, log, logOutput, service, stop, warnings, isLaterWorker: isLaterWorker(environment) })
}
