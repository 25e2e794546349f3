// Serves in this process: opens the store and what stands on it, listens, and shuts down gracefully.
import cluster from 'node:cluster'
import { once } from 'node:events'
import type { Logger } from 'pino'
import { type AuditLog, openAuditLog } from '../../auth/audit/audit-log.ts'
import { isLoopbackBinding } from '../../auth/guards/loopback.ts'
import { isSealed, type KeyCipher } from '../../auth/tokens/key-cipher.ts'
import { createGateway } from '../../gateway.ts'
import { corsOfRefusals } from '../../http/cors.ts'
import { createAccepting } from '../../http/limits/accepting.ts'
import { createInFlightBytes } from '../../http/limits/in-flight-bytes.ts'
import { createHttpServer } from '../../http/server/server.ts'
import { redact } from '../../redact.ts'
import { type Ledger, openLedger } from '../../rest/ledger/ledger.ts'
import type { Store } from '../../store/contract.ts'
import { databasePath } from '../../store/open-store.ts'
import { demoNotice, loadDemo } from '../demo/demo.ts'
import type { CommandIo, ExitCode } from '../io.ts'
import { limitYoungGeneration } from '../limit-young-generation.ts'
import { createBrokenOffReport, createRefusedConnectionReport } from '../log.ts'
import { describeEntry } from '../open-audit.ts'
import { DEFAULT_DATABASE } from '../options/database-options.ts'
import type { ServeConfig } from '../options/serve-options.ts'
import { toShadowOptions } from '../retirement/to-shadow-options.ts'
import { openAccessLog } from '../sight/access-log.ts'
import type { LogOutput } from '../sight/log-output.ts'
import { createProcessMetrics } from '../sight/metrics.ts'
import { openAdmin } from '../sight/open-admin.ts'
import { openTracer } from '../sight/open-tracer.ts'
import { answerHeartbeats } from '../workers/heartbeat.ts'
import { announceDatabaseFailure, announceReady, onRetire, timeoutsOf } from '../workers/worker-messages.ts'
import { allocateYoung } from './allocate-young.ts'
import { drain, untilNoticed } from './drain.ts'
import { listen } from './listen.ts'
import { logStart } from './log-start.ts'
import { maxConnections } from './open-files.ts'
import { openServedStore } from './open-served-store.ts'
import { packageVersion } from './package-version.ts'
import { requireSigningKey } from './read-only.ts'
import type { ServePlan } from './serve-plan.ts'
import { startSweeps } from './sweeps.ts'
import type { ServiceManager } from './systemd/service-manager.ts'
import { toGatewayOptions } from './to-gateway-options.ts'
import { watchLogSize } from './watch-log-size.ts'

/**
 * Maximum size of the young generation. With half of it, executed GraphQL answers take a fourteenth more processor
 * time.
 */
const YOUNG_BYTES_WHEN_BUSY = 67_108_864

export interface Surroundings {
  readonly io: CommandIo
  readonly log: Logger
  /** Where `log` writes to. */
  readonly logOutput: LogOutput
  readonly service: ServiceManager
  readonly stop: AbortSignal
  /** Warnings about the configuration. A worker passes them on to its supervisor. */
  readonly warnings: readonly string[]
  /** Whether another worker has already checked the database, and created it if there was none. */
  readonly isLaterWorker: boolean
}

/** Serves until `stop` is aborted, the database fails, or another worker has replaced this one. */
export async function serveHere(
  plan: ServePlan,
  { io, log, logOutput, service, stop, warnings, isLaterWorker }: Surroundings,
): Promise<ExitCode> {
  const { config } = plan
  const { clock } = io
  const isReadOnly = config.readOnly === true
  if (cluster.isWorker) answerHeartbeats()
  allocateYoung()
  using _young = limitYoungGeneration({ maxBytesWhenBusy: YOUNG_BYTES_WHEN_BUSY })
  const retired = new AbortController()
  if (cluster.isWorker) onRetire(() => retired.abort())
  const failed = new AbortController()
  // Opened first, so that it is disposed of after everything that is traced.
  await using tracer = await openTracer(plan.tracing, config, log)
  await using store = await openServedStore(config, log, {
    traces: tracer?.scope?.statements,
    isLaterWorker,
    stop,
    onFatal() {
      failed.abort()
      announceDatabaseFailure()
    },
  })
  if (store === null) return 0
  if (isReadOnly) await requireSigningKey(store)
  const inFlight = createInFlightBytes(config.inFlightBytes)
  const accepting = createAccepting({ now: () => performance.now(), nextTurn: setImmediate })
  using _watch = watchExternalCheckpoints(config, log)
  // Disposed of before the store, so that every recorded entry is durable when the process ends.
  await using audit = await openServedAudit(config, store, clock, log)
  await using ledger = openServedLedger(config, store, clock, log)
  const shadow = await toShadowOptions(config, plan.shadowHeaders, maxConnections(config), store, log)
  const metrics = await createProcessMetrics(
    config.adminPort !== undefined,
    config.basePath,
    { store, inFlight, maxInFlightBytes: config.inFlightBytes, version: packageVersion(), clock },
    [...(ledger ? [ledger.collect] : []), ...(shadow ? [shadow.report.collect] : [])],
  )
  // A worker that is being replaced (`retired`) does not count as draining: the other workers listen on its port.
  const health = { ping: store.ping, isDraining: () => stop.aborted || failed.signal.aborted }
  await using running = new AsyncDisposableStack()
  const ending = AbortSignal.any([stop, failed.signal, retired.signal])
  const { isDraining } = health
  const handle = await createGateway(
    store,
    await toGatewayOptions(
      plan,
      { store, inFlight, accepting, audit, metrics, shadow, clock, isDraining, running },
      log,
    ),
  )
  if (!isReadOnly) await warnOfUnsealedKeys(store, plan.keyCipher, log)
  using accessLog = openAccessLog(config, await store.auditSalt(), io, logOutput, log)
  const server = createHttpServer(handle, {
    bodyLimitBytes: config.bodyLimit,
    trustedProxies: config.trustedProxy,
    proxyProtocol: config.proxyProtocol ?? false,
    inFlight,
    accepting,
    sendTimeoutMs: config.sendTimeout * 1_000,
    reportBrokenOff: metrics.brokenOff(createBrokenOffReport(log, () => performance.now())),
    onMalformed: metrics.onMalformed,
    maxConnections: maxConnections(config),
    onRefusedConnection: metrics.refusedConnection(createRefusedConnectionReport(log, () => performance.now())),
    refusalHeaders: corsOfRefusals(config.corsOrigin),
    onRequest: tracer?.start,
    within: tracer?.scope?.run,
    observers: [...metrics.observers, ...[ledger, accessLog, tracer].flatMap((each) => (each ? [each.observe] : []))],
    hasRequestIds: config.accessLog !== 'off',
  })
  // Opened before the client port, so that a start that fails here has not refused any client.
  await using _admin = await openAdmin(config, metrics, { ...health, isListening: () => server.listening }, log)
  const url = await listen(server, config, service.listenFd)
  // If the start fails after this, nothing drains the server: left open, it would keep the process alive.
  using _port = { [Symbol.dispose]: () => server.close().closeAllConnections() }
  using _sweeps = isReadOnly ? null : startSweeps(store, clock, log)
  // Loaded after the port is bound: the demo notice is printed only once, and a start that fails would waste it.
  const isSeeded = mayHaveDemo(config) && (await loadDemo(store, clock))
  const announcement = `listening on ${url}\n${isSeeded ? demoNotice(`${url}${config.basePath}`) : ''}`
  if (cluster.isWorker) announceReady({ announcement, warnings, ...timeoutsOf(config) })
  else {
    io.stdout.write(announcement)
    logStart(config, log)
  }
  service.notify('READY=1')
  using _watchdog = service.startWatchdog()
  if (!ending.aborted) await once(ending, 'abort')
  service.notify('STOPPING=1')
  if (stop.aborted) await untilNoticed(config.shutdownDelay * 1_000, failed.signal, log)
  await drain(server, config.shutdownGrace * 1_000, log)
  return failed.signal.aborted ? 1 : 0
}

function watchExternalCheckpoints({ checkpoints, database }: ServeConfig, log: Logger): Disposable | null {
  const path = databasePath(database)
  if (checkpoints === 'own' || path === null) return null
  return watchLogSize(path, (bytes) => {
    log.warn({ bytes }, 'the -wal file keeps growing: check that the program that makes the checkpoints is running')
  })
}

function openServedAudit(config: ServeConfig, store: Store, clock: CommandIo['clock'], log: Logger): Promise<AuditLog> {
  return openAuditLog(store, {
    retentionMs: config.auditRetention,
    areEmailsClear: config.auditEmails === 'clear',
    clock,
    onEntry: (entry) => log.info({ audit: describeEntry({ ...entry, who: redact(entry.who) }) }, 'audit'),
    onFailure: (error) => log.error({ err: error }, 'the audit log cannot be written: its entries wait in memory'),
  })
}

function openServedLedger(config: ServeConfig, store: Store, clock: CommandIo['clock'], log: Logger): Ledger | null {
  if (config.ledgerRetention === 0) return null
  return openLedger(store, {
    retentionMs: config.ledgerRetention,
    clock,
    onFailure: (error) =>
      log.error({ err: error }, 'the ledger of REST calls cannot be written: its counts wait in memory'),
  })
}

async function warnOfUnsealedKeys(
  store: Pick<Store, 'signingKeys'>,
  { hasSecret }: KeyCipher,
  log: Logger,
): Promise<void> {
  if (!hasSecret || (await store.signingKeys()).every(({ privateJwk }) => isSealed(privateJwk))) return
  log.warn('signing keys are stored unencrypted although an encryption key is given: run keys encrypt')
}

/** Only the default database, where no other machine can reach it, gets the demo workspace. */
function mayHaveDemo({ host, noDemo, database }: ServeConfig): boolean {
  return isLoopbackBinding(host) && !noDemo && database === DEFAULT_DATABASE
}
