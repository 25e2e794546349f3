// Converts the configuration of `serve` to the options of the gateway, and connects its reports to the log.
import type { Logger } from 'pino'
import type { Audit } from '../../auth/audit/audit-event.ts'
import { createReadOnlyGuard, guardsOf } from '../../auth/guards/guards.ts'
import type { GatewayOptions } from '../../gateway.ts'
import type { ImportServices } from '../../rest/import-endpoint.ts'
import type { Store } from '../../store/contract.ts'
import { fileOf } from '../../store/open-store.ts'
import { DEMO_EMAIL, demoExamples } from '../demo/demo.ts'
import { createImporter } from '../import/importer.ts'
import { createClockReport, createOverloadReport, createReport } from '../log.ts'
import { attemptsPerMinute } from '../login-exposure.ts'
import { storeConfig } from '../open-store-for-cli.ts'
import { toGraphQLOptions } from '../options/graphql-options.ts'
import type { ProcessMetrics } from '../sight/metrics.ts'
import type { ServePlan } from './serve-plan.ts'

/** What is open already when the gateway is created. */
export interface GatewayParts
  extends Pick<GatewayOptions, 'inFlight' | 'accepting' | 'shadow' | 'clock' | 'isDraining' | 'running'> {
  readonly store: Pick<Store, 'ping'>
  readonly audit: Audit
  readonly metrics: ProcessMetrics
}

export async function toGatewayOptions(plan: ServePlan, parts: GatewayParts, log: Logger): Promise<GatewayOptions> {
  const { config, guardOptions, keyCipher, retirement } = plan
  const { store, audit, metrics, inFlight, accepting, shadow, clock, isDraining, running } = parts
  return {
    createGuard: config.readOnly ? createReadOnlyGuard : guardsOf(config.loginGuard, guardOptions),
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
    onTokenIssuedAhead: createClockReport(log, () => performance.now()),
    tokenAlgorithm: config.tokenAlgorithm ?? null,
    keyCipher,
    onUnreadableKey: (error) =>
      log.error({ err: error }, 'a signing key cannot be read: tokens that it signed are refused here'),
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
    accepting,
    maxQueueDelayMs: config.maxQueueDelay,
    onOverload: createOverloadReport(log),
    demoEmail: DEMO_EMAIL,
    examples: await demoExamples(),
    clock,
    report: createReport(log, () => performance.now()),
    isDraining,
    retirement,
    shadow,
    importing: importServices(plan, store, metrics, log),
    reportBackground: (error, what) => log.warn({ err: error }, what),
    running,
  }
}

function importServices(
  { config, importToken }: ServePlan,
  { ping }: Pick<Store, 'ping'>,
  metrics: ProcessMetrics,
  log: Logger,
): ImportServices | undefined {
  const { database, databaseNext } = config
  const areClientsKnown = config.loginGuard.includes('client') && config.readOnly !== true
  if (importToken === null && !areClientsKnown) return undefined
  return {
    token: importToken,
    importer: metrics.imported(
      createImporter(
        { database: { database, databaseNext, file: fileOf(database) }, config: storeConfig(config) },
        ping,
        (error) => log.error({ err: error }, 'an import failed'),
      ),
    ),
  }
}
