// All the wiring of a gateway, from an open store to a handler of requests.

import { createOperationsEndpoints, HEALTH_PATHS } from './admin/health.ts'
import { createProbeEndpoint } from './admin/probe.ts'
import type { Audit } from './auth/audit/audit-event.ts'
import { withAudit } from './auth/audit/audited-sign-in.ts'
import type { CreateGuard } from './auth/guards/guards.ts'
import { createRateLimits, NO_RATE_LIMITS } from './auth/limits/rate-limits.ts'
import { createSessions } from './auth/sessions.ts'
import { createSignIn } from './auth/sign-in.ts'
import { createAccessTokens } from './auth/tokens/access-token.ts'
import type { KeyCipher } from './auth/tokens/key-cipher.ts'
import { type KeysetOptions, openKeyset } from './auth/tokens/keyset.ts'
import { createGraphQLRoad } from './graphql/endpoint/endpoint.ts'
import type { GraphQLOptions } from './graphql/endpoint/options.ts'
import { createSchemaDocuments } from './graphql/endpoint/schema-document.ts'
import { createSchema } from './graphql/schema.ts'
import { type CacheSize, createResponseCache } from './http/caching/response-cache.ts'
import type { ReportRefusedOrigin } from './http/cors.ts'
import type { Endpoint, Handler } from './http/handler.ts'
import { createAdmission } from './http/limits/admission.ts'
import { createConcurrencyLimit } from './http/limits/concurrency-limit.ts'
import type { InFlightBytes } from './http/limits/in-flight-bytes.ts'
import { createOwnerOf } from './http/limits/request-owner.ts'
import { createRoundRobin } from './http/limits/round-robin-scheduler.ts'
import { createTakeTurn } from './http/limits/take-turn.ts'
import { createTurnQuota } from './http/limits/turn-quota.ts'
import { withAdmission } from './http/limits/with-admission.ts'
import { createPipeline } from './http/pipeline.ts'
import type { ReportFailure } from './http/problem-details.ts'
import { API_VERSION } from './http/response.ts'
import { openExplorerBuild } from './pages/assets.ts'
import { createExplorerDataEndpoint } from './pages/explorer-data.ts'
import { createPage, createPageEndpoints, withEmptyPage, withGraphiql } from './pages/pages.ts'
import { createFromSnapshot, createIsSameUser } from './resolvers/consistent-answer.ts'
import { createReads } from './resolvers/reads/reads.ts'
import { createImportAccess, type ImportAccessParts } from './rest/import-access.ts'
import { createImportEndpoint, type ImportServices } from './rest/import-endpoint.ts'
import { createOpenApiEndpoint } from './rest/openapi/endpoint.ts'
import type { OpenApiOptions } from './rest/openapi/openapi.ts'
import { createRestEndpoints } from './rest/rest.ts'
import type { RetirementPlan } from './rest/retirement/plan.ts'
import { createRetirement } from './rest/retirement/retirement.ts'
import { createShadowing, type ShadowOptions } from './rest/shadow/with-shadow.ts'
import type { Store } from './store/contract.ts'

/** Answers of one user that are made at a time. A page asks for fewer; more would be read side by side, held, and refused. */
const MAX_MADE_PER_USER = 8
/** More of them than the connections of a usual client. */
const FREE_WAITING_PER_USER = 64

export interface GatewayWatch {
  /** Told of each request how many milliseconds it waited before work on it began. */
  readonly onQueueDelay: (delayMs: number) => void
  /** Told once: how large the cache of replies is now, whenever it is asked. */
  readonly onCache: (size: () => CacheSize) => void
}

export interface GatewayOptions {
  readonly createGuard: CreateGuard
  readonly basePath: string
  /** As `normalOrigin` writes them. */
  readonly corsOrigins: readonly string[]
  readonly reportRefusedOrigin: ReportRefusedOrigin
  readonly issuer: string
  readonly audience: string
  readonly accessTokenTtlSeconds: number
  readonly tokenAlgorithm: KeysetOptions['algorithm']
  readonly keyCipher: KeyCipher
  readonly refreshIdleTtlSeconds: number
  readonly refreshAbsoluteTtlSeconds: number
  readonly sessionsPerUser: number
  /** For this long a session may be used without being looked up again; null to look up for every request. */
  readonly sessionCheckMs: number | null
  readonly audit: Audit
  /** Logins, and refreshes, a minute of one network; 0 for no limit. Null for no limits of anything. */
  readonly attemptsPerMinute: number | null
  /** Of finished replies that are kept; 0 keeps none. */
  readonly cacheBytes: number
  readonly graphql: GraphQLOptions
  /** What requests in flight may hold together; the edge takes what it has not sent from the same budget. */
  readonly inFlight: InFlightBytes
  /** Milliseconds that requests may wait before work on them begins: more than can begin in that time are refused. */
  readonly maxQueueDelayMs: number
  /** Called when refusing begins, and when it has ended, with how many were refused. */
  readonly onOverload?: (isRefusing: boolean, refused: number) => void
  /** What metrics are made of, where they are asked for. */
  readonly watch?: GatewayWatch | undefined
  /** The user of the demo workspace. The pages sign this user in by themselves when it exists and the guard is `local`. */
  readonly demoEmail: string | null
  /** What the reference shows of documents, by GraphQL type. */
  readonly examples: OpenApiOptions['examples']
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  readonly report: ReportFailure
  readonly isDraining: () => boolean
  /** Absent: there is no POST /import. */
  readonly importing?: ImportServices | undefined
  /** Absent: every REST route stays. */
  readonly retirement?: RetirementPlan | undefined
  /** Absent: no other server is asked. */
  readonly shadow?: ShadowOptions | undefined
  /** For the log: something failed that no client waits for. */
  readonly reportBackground: (error: unknown, what: string) => void
  /** What the gateway keeps running besides its requests: to be disposed of before the store. */
  readonly running: AsyncDisposableStack
}

export async function createGateway(store: Store, options: GatewayOptions): Promise<Handler> {
  const { clock, report, basePath } = options
  const keyset = await openKeyset(store, {
    clock,
    cipher: options.keyCipher,
    algorithm: options.tokenAlgorithm,
    audit: options.audit,
    sessionCheckMs: options.sessionCheckMs,
    running: options.running,
    // Nobody's request: it is reported like one that failed.
    onUnreadable: (error) => report(error, 'keyset'),
  })
  const tokens = createAccessTokens(keyset, {
    issuer: options.issuer,
    audience: options.audience,
    ttlSeconds: options.accessTokenTtlSeconds,
    clock,
  })
  const sessions = createSessions(store, tokens, options)
  const { attemptsPerMinute } = options
  const limits = attemptsPerMinute === null ? NO_RATE_LIMITS : createRateLimits({ attemptsPerMinute, clock })
  const guard = await options.createGuard({
    store,
    limits,
    keyset,
    audit: options.audit,
    clock,
    report: options.reportBackground,
    running: options.running,
  })
  const signIn = withAudit(createSignIn({ sessions, guard, limits }), options.audit)
  const yieldTurn = createRoundRobin()
  const cache = createResponseCache(options.cacheBytes)
  options.watch?.onCache(cache.size)
  const admission = createAdmission({
    maxDelayMs: options.maxQueueDelayMs,
    now: () => performance.now(),
    nextTurn: setImmediate,
    later: (run, milliseconds) => void setTimeout(run, milliseconds).unref(),
    onChange: options.onOverload ?? (() => {}),
    onDelay: options.watch?.onQueueDelay ?? (() => {}),
  })
  const ownerOf = createOwnerOf(tokens)
  const reads = createReads(store)
  const services = {
    reads,
    fromSnapshot: createFromSnapshot(store.openSnapshot, reads, options.maxQueueDelayMs),
    isSameUser: createIsSameUser(store),
    sessions,
    signIn,
    cache,
    inFlight: options.inFlight,
    limitMaking: createConcurrencyLimit({
      maxRunning: MAX_MADE_PER_USER,
      freeWaiting: FREE_WAITING_PER_USER,
      maxWaitMs: options.maxQueueDelayMs,
    }),
    takeTurn: createTakeTurn(admission, ownerOf),
    yieldTurn,
    paceReading: createTurnQuota(yieldTurn),
  }
  const schema = createSchema()
  const build = await openExplorerBuild()
  const graphql = createGraphQLRoad(schema, services, options.graphql, report)
  const page = createPage(build, basePath, graphql.load)
  const schemaDocuments = createSchemaDocuments(options.graphql)
  const endpoints = [
    ...createPageEndpoints(page, basePath, schemaDocuments.length > 0),
    ...(build?.files ?? []),
    createOpenApiEndpoint(schema, {
      apiVersion: API_VERSION,
      basePath,
      examples: options.examples,
      retirement: options.retirement,
    }),
    ...schemaDocuments,
    createExplorerDataEndpoint({
      apiVersion: API_VERSION,
      basePath,
      loginGuard: guard.name,
      async findDemoEmail() {
        const { demoEmail } = options
        const isOffered = guard.name === 'local' && demoEmail !== null && (await store.userByEmail(demoEmail)) !== null
        return isOffered ? demoEmail : null
      },
    }),
    ...createRestEndpoints(services, options.graphql.isTraceEnabled),
    ...(options.importing ? [importEndpoint(options.importing, { store, limits }, options)] : []),
    ...graphql.endpoints.map((endpoint) => withGraphiql(endpoint, page)),
    createProbeEndpoint({ keyset, clock }),
    ...createOperationsEndpoints(keyset, { ping: store.ping, isDraining: options.isDraining }),
  ]
  const guarded = endpoints.map((endpoint) =>
    HEALTH_PATHS.has(endpoint.path) ? endpoint : withAdmission(endpoint, admission, ownerOf),
  )
  const admitted = options.shadow ? guarded.map(createShadowing(options.shadow, sessions, options.running)) : guarded
  const pipeline = createRoads(admitted, options)
  return build ? withEmptyPage(pipeline, build, basePath) : pipeline
}

function importEndpoint(
  { importer, token }: ImportServices,
  parts: Pick<ImportAccessParts, 'store' | 'limits'>,
  kept: Pick<GatewayOptions, 'audit' | 'running'>,
): Endpoint {
  return createImportEndpoint(importer, createImportAccess({ token, ...parts }), kept)
}

function createRoads(admitted: readonly Endpoint[], options: GatewayOptions): Handler {
  if (!options.retirement || options.retirement.size === 0) return createPipeline(admitted, options)
  const { announce, refuse } = createRetirement(options.retirement, options.clock)
  return createPipeline(admitted.map(refuse), { ...options, announce })
}
