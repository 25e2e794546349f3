// serve: starts the gateway, runs it until a stop signal, and shuts it down gracefully.
import cluster from 'node:cluster'
import { once } from 'node:events'
import type { Logger } from 'pino'
import { openAuditLog } from '../../auth/audit/audit-log.ts'
import { guardsOf } from '../../auth/guards/guards.ts'
import { isLoopbackBinding } from '../../auth/guards/loopback.ts'
import { createReadOnlyGuard } from '../../auth/guards/read-only.ts'
import { isSealed } from '../../auth/tokens/key-cipher.ts'
import { createGateway } from '../../gateway.ts'
import { corsOfRefusals } from '../../http/cors.ts'
import { createInFlightBytes } from '../../http/limits/in-flight-bytes.ts'
import { createHttpServer } from '../../http/server/server.ts'
import { redact } from '../../redact.ts'
import type { ImportServices } from '../../rest/import-endpoint.ts'
import { openLedger } from '../../rest/ledger/ledger.ts'
import type { Store } from '../../store/contract.ts'
import { databasePath, type StoreOptions } from '../../store/open-store.ts'
import { DEMO_EMAIL, demoExamples, demoNotice, loadDemo } from '../demo/demo.ts'
import { createImporter } from '../import/importer.ts'
import type { CommandIo, ExitCode } from '../io.ts'
import { limitYoungGeneration } from '../limit-young-generation.ts'
import {
  createBrokenOffReport,
  createLog,
  createOverloadReport,
  createRefusedConnectionReport,
  createReport,
} from '../log.ts'
import { attemptsPerMinute, exposureWarnings } from '../login-exposure.ts'
import { openActiveStore } from '../open-active-store.ts'
import { describeEntry } from '../open-audit.ts'
import { storeConfig, toStoreOptions } from '../open-store-for-cli.ts'
import { DEFAULT_DATABASE } from '../options/database-options.ts'
import { toGraphQLOptions } from '../options/graphql-options.ts'
import type { ServeConfig } from '../options/serve-options.ts'
import { toShadowOptions } from '../retirement/to-shadow-options.ts'
import { allocateYoung } from '../serving/allocate-young.ts'
import { drain, untilNoticed } from '../serving/drain.ts'
import { listen, withInheritedSocket } from '../serving/listen.ts'
import { maxConnections } from '../serving/open-files.ts'
import { packageVersion } from '../serving/package-version.ts'
import { requireSigningKey } from '../serving/read-only.ts'
import { planServe, type ServePlan } from '../serving/serve-plan.ts'
import { startSweeps } from '../serving/sweeps.ts'
import { readServiceManager } from '../serving/systemd/service-manager.ts'
import { watchLogSize } from '../serving/watch-log-size.ts'
import { openAccessLog } from '../sight/access-log.ts'
import { createLogOutput, oneWriteAtATime } from '../sight/log-output.ts'
import { createProcessMetrics, type ProcessMetrics } from '../sight/metrics.ts'
import { openAdmin } from '../sight/open-admin.ts'
import { openTracer } from '../sight/open-tracer.ts'
import { isLaterWorker } from '../workers/announced-end.ts'
import { answerHeartbeats } from '../workers/heartbeat.ts'
import { workerCount } from '../workers/worker-count.ts'
import { announceDatabaseFailure, announceReady, onRetire, timeoutsOf } from '../workers/worker-messages.ts'
import { superviseWorkers } from '../workers/workers.ts'

/**
 * Maximum size of the young generation. With half of it, executed GraphQL answers take a fourteenth more processor
 * time.
 */
const YOUNG_BYTES_WHEN_BUSY = 67_108_864

/** What the command line passes on from the process. */
export interface ServeSignals {
  readonly stop: AbortSignal
  readonly onReload: (listener: () => void) => void
  /** For variables that other standards define, not this program: `OTEL_…` and those of systemd. */
  readonly environment: Readonly<Record<string, string | undefined>>
}

/**
 * Serves until `stop` is aborted or the database fails. Returns 0, or 1 when the database failed; with workers also the
 * exit code of a first worker that could not start. Throws `UsageError` for a wrong configuration.
 */
export async function runServe(
  asked: ServeConfig,
  io: CommandIo,
  { stop, onReload, environment }: ServeSignals,
): Promise<ExitCode> {
  const stderr = cluster.isWorker || workerCount(asked) > 1 ? oneWriteAtATime(io.stderr) : io.stderr
  const output = createLogOutput(stderr, (bytes) =>
    log.warn({ bytes }, 'a part of the log was lost: its reader was too slow'),
  )
  const log = createLog(asked, { stderr: output, isTerminal: io.isTerminal })
  const service = readServiceManager(environment, (error) =>
    log.warn({ err: error }, 'systemd-notify failed: the service manager does not know the state of the gateway'),
  )
  const plan = await planServe(withInheritedSocket(asked, service), environment)
  const { config, keyCipher } = plan
  const isReadOnly = config.readOnly === true
  const isLoopback = isLoopbackBinding(config.host)
  const warnings = exposureWarnings(config, process.getuid?.())
  if (cluster.isPrimary) for (const warning of warnings) log.warn(warning)
  if (cluster.isPrimary && workerCount(config) > 1)
    return superviseWorkers(config, io, log, { stop, onReload, service, warnings })
  // A worker ignores SIGHUP: a signal to the whole process group is meant for the supervisor, which rolls its workers.
  if (cluster.isWorker) onReload(() => {})
  if (cluster.isWorker) answerHeartbeats()
  allocateYoung()
  using _young = limitYoungGeneration({ maxBytesWhenBusy: YOUNG_BYTES_WHEN_BUSY })
  const retired = new AbortController()
  if (cluster.isWorker) onRetire(() => retired.abort())
  const failed = new AbortController()
  const { database, databaseNext } = config
  const onSwitch = () => log.info('the database has moved: continuing with --database-next')
  const onNextUnusable = (error: unknown) =>
    log.warn({ err: error }, '--database-next cannot be used: the database cannot move there until this is fixed')
  // Opened first, so that it is disposed of after everything that is traced.
  await using tracer = await openTracer(plan.tracing, config, log)
  await using store = await openActiveStore(
    { database, databaseNext, replica: replicaOptions(config, log), onSwitch, onNextUnusable },
    {
      ...toStoreOptions(config),
      traces: tracer?.scope?.statements,
      isReadOnly,
      // The first worker has already checked the database, and created the file if there was none.
      ...(isLaterWorker(environment)
        ? { check: 'off', mustExist: true }
        : { check: config.check, mustExist: config.mustExist === true }),
      onFatal(error) {
        log.fatal({ err: error }, 'the database failed: stopping, because only a restart can tell what is stored')
        failed.abort()
        announceDatabaseFailure()
      },
    },
  )
  if (isReadOnly) await requireSigningKey(store)
  const inFlight = createInFlightBytes(config.inFlightBytes)
  using _watch = watchExternalCheckpoints(config, log)
  // Disposed of before the store, so that every recorded entry is durable when the process ends.
  await using audit = await openAuditLog(store, {
    retentionMs: config.auditRetention,
    areEmailsClear: config.auditEmails === 'clear',
    clock: io.clock,
    onEntry: (entry) => log.info({ audit: describeEntry({ ...entry, who: redact(entry.who) }) }, 'audit'),
    onFailure: (error) => log.error({ err: error }, 'the audit log cannot be written: its entries wait in memory'),
  })
  await using ledger =
    config.ledgerRetention === 0
      ? null
      : openLedger(store, {
          retentionMs: config.ledgerRetention,
          clock: io.clock,
          onFailure: (error) =>
            log.error({ err: error }, 'the ledger of REST calls cannot be written: its counts wait in memory'),
        })
  const shadow = await toShadowOptions(config, plan.shadowHeaders, maxConnections(config), store, log)
  const metrics = await createProcessMetrics(
    config.adminPort !== undefined,
    config.basePath,
    { store, inFlight, maxInFlightBytes: config.inFlightBytes, version: packageVersion(), clock: io.clock },
    [...(ledger ? [ledger.collect] : []), ...(shadow ? [shadow.report.collect] : [])],
  )
  // A worker that is being replaced (`retired`) does not count as draining: the other workers listen on its port.
  const health = { ping: store.ping, isDraining: () => stop.aborted || failed.signal.aborted }
  await using running = new AsyncDisposableStack()
  const ending = AbortSignal.any([stop, failed.signal, retired.signal])
  const handle = await createGateway(store, {
    createGuard: isReadOnly ? async () => createReadOnlyGuard() : guardsOf(config.loginGuard, plan.guardOptions),
    basePath: config.basePath,
    corsOrigins: config.corsOrigin,
    reportRefusedOrigin: (origin) =>
      log.warn(
        { origin },
        'a page of this origin cannot read the answers: add the origin to --cors-origin if it should',
      ),
    issuer: config.issuer,
    audience: config.audience,
    accessTokenTtlSeconds: config.accessTokenTtl,
    tokenAlgorithm: config.tokenAlgorithm ?? null,
    keyCipher,
    refreshIdleTtlSeconds: config.refreshIdleTtl,
    refreshAbsoluteTtlSeconds: config.refreshAbsoluteTtl,
    sessionsPerUser: config.sessionsPerUser,
    sessionCheckMs: config.sessionCheck,
    audit: metrics.audited(audit),
    watch: metrics.watch,
    attemptsPerMinute: attemptsPerMinute(config),
    cacheBytes: config.cacheBytes,
    graphql: toGraphQLOptions(config, config.loginGuard.join(',')),
    inFlight,
    maxQueueDelayMs: config.maxQueueDelay,
    onOverload: createOverloadReport(log),
    demoEmail: DEMO_EMAIL,
    examples: await demoExamples(),
    clock: io.clock,
    report: createReport(log, () => performance.now()),
    isDraining: health.isDraining,
    retirement: plan.retirement,
    shadow,
    importing: importServices(plan, store, log, metrics),
    reportBackground: (error, what) => log.warn({ err: error }, what),
    running,
  })
  if (
    !isReadOnly &&
    keyCipher.hasSecret &&
    (await store.signingKeys()).some(({ privateJwk }) => !isSealed(privateJwk))
  ) {
    log.warn('signing keys are stored unencrypted although an encryption key is given: run keys encrypt')
  }
  using accessLog = openAccessLog(config, await store.auditSalt(), io, output, log)
  const server = createHttpServer(handle, {
    bodyLimitBytes: config.bodyLimit,
    trustedProxies: config.trustedProxy,
    proxyProtocol: config.proxyProtocol ?? false,
    inFlight,
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
  using _sweeps = isReadOnly ? null : startSweeps(store, io.clock, log)
  // Loaded after the port is bound: the demo notice is printed only once, and a start that fails would waste it.
  const isSeeded =
    isLoopback && !config.noDemo && config.database === DEFAULT_DATABASE && (await loadDemo(store, io.clock))
  const announcement = `listening on ${url}\n${isSeeded ? demoNotice(`${url}${config.basePath}`) : ''}`
  if (cluster.isWorker) announceReady({ announcement, warnings, ...timeoutsOf(config) })
  else io.stdout.write(announcement)
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

function importServices(
  { config, importToken }: ServePlan,
  { ping }: Pick<Store, 'ping'>,
  log: Logger,
  metrics: ProcessMetrics,
): ImportServices | undefined {
  const { database, databaseNext } = config
  const areClientsKnown = config.loginGuard.includes('client') && config.readOnly !== true
  if (importToken === null && !areClientsKnown) return undefined
  return {
    token: importToken,
    importer: metrics.imported(
      createImporter({ database: { database, databaseNext }, config: storeConfig(config) }, ping, (error) =>
        log.error({ err: error }, 'an import failed'),
      ),
    ),
  }
}

function replicaOptions({ databaseReplica, replicaTimeout }: ServeConfig, log: Logger): StoreOptions['replica'] {
  if (databaseReplica === undefined) return undefined
  return {
    url: databaseReplica,
    timeoutMs: replicaTimeout,
    onChange(isHealthy, reason) {
      if (isHealthy) log.info('reads go to the replica')
      else log.warn({ err: reason }, 'the replica does not answer: reads go to the primary until it does')
    },
  }
}
