// Wires a gateway together: takes an open store and returns the handler of all requests.

import { createOperationsEndpoints, HEALTH_PATHS } from './admin/health.ts'
import { createProbeEndpoint } from './admin/probe.ts'
import type { Audit } from './auth/audit/audit-event.ts'
import { withAudit } from './auth/audit/audited-sign-in.ts'
import type { CreateGuard } from './auth/guards/guards.ts'
import { createRateLimits, NO_RATE_LIMITS } from './auth/limits/rate-limits.ts'
import { createSessions } from './auth/sessions.ts'
import { createSignIn } from './auth/sign-in.ts'
import { type AccessTokenOptions, createAccessTokens } from './auth/tokens/access-token.ts'
import type { KeyCipher } from './auth/tokens/key-cipher.ts'
import { type KeysetOptions, openKeyset } from './auth/tokens/keyset.ts'
import { createGraphQLEndpoints } from './graphql/endpoint/endpoint.ts'
import type { GraphQLOptions } from './graphql/endpoint/options.ts'
import { createSchemaDocuments } from './graphql/endpoint/schema-document.ts'
import { createSchema } from './graphql/schema.ts'
import { type CacheSize, createResponseCache } from './http/caching/response-cache.ts'
import type { ReportRefusedOrigin } from './http/cors.ts'
import type { Endpoint, Handler } from './http/handler.ts'
import type { Accepting } from './http/limits/accepting.ts'
import { createAdmission } from './http/limits/admission.ts'
import { createConcurrencyLimit } from './http/limits/concurrency-limit.ts'
import type { InFlightBytes } from './http/limits/in-flight-bytes.ts'
import { createOwnerOf } from './http/limits/request-owner.ts'
import { createRoundRobin, USUAL } from './http/limits/round-robin-scheduler.ts'
import { createTakeTurn } from './http/limits/take-turn.ts'
import { createTurnQuota } from './http/limits/turn-quota.ts'
import { withAdmission } from './http/limits/with-admission.ts'
import { createPipeline } from './http/pipeline.ts'
import type { ReportFailure } from './http/problem-details.ts'
import { openExplorerBuild } from './pages/assets.ts'
import { createExplorerDataEndpoint } from './pages/explorer-data.ts'
import { createPage, createPageEndpoints, withEmptyPage, withGraphiql } from './pages/pages.ts'
import { createFromSnapshot, createIsSameUser } from './resolvers/consistent-answer.ts'
import { createReads } from './resolvers/reads/reads.ts'
import { createImportAccess } from './rest/import-access.ts'
import { createImportEndpoint, type ImportServices } from './rest/import-endpoint.ts'
import { createOpenApiEndpoint } from './rest/openapi/endpoint.ts'
import type { OpenApiOptions } from './rest/openapi/openapi.ts'
import { createRestEndpoints } from './rest/rest.ts'
import type { RetirementPlan } from './rest/retirement/plan.ts'
import { createRetirement } from './rest/retirement/retirement.ts'
import { createShadowing, type ShadowOptions } from './rest/shadow/with-shadow.ts'
import type { Store } from './store/contract.ts'

/**
 * Maximum number of responses that are computed concurrently for one user: as many as a browser requests at a time over
 * HTTP/1.1. More of them would read and hold their data side by side, and then be refused.
 */
const MAX_CONCURRENT_PER_USER = 6
/** Requests of one user that may always wait for such a slot: more than the connections that a usual client opens. */
const FREE_WAITING_PER_USER = 64

export interface GatewayWatch {
  /** Called for each request with the milliseconds that it waited before work on it began. */
  readonly onQueueDelay: (delayMs: number) => void
  /** Called once with a function that returns the current size of the response cache. */
  readonly onCache: (size: () => CacheSize) => void
}

export interface GatewayOptions {
  readonly createGuard: CreateGuard
  readonly basePath: string
  /** Each in the form that `normalOrigin` returns. */
  readonly corsOrigins: readonly string[]
  readonly reportRefusedOrigin: ReportRefusedOrigin
  readonly issuer: string
  readonly audience: string
  readonly accessTokenTtlSeconds: number
  readonly onTokenIssuedAhead?: AccessTokenOptions['onIssuedAhead']
  readonly tokenAlgorithm: KeysetOptions['algorithm']
  readonly keyCipher: KeyCipher
  readonly onUnreadableKey: KeysetOptions['onUnreadable']
  readonly refreshIdleTtlSeconds: number
  readonly refreshAbsoluteTtlSeconds: number
  readonly sessionsPerUser: number
  /** Milliseconds that a session may be used without another lookup; null to look it up for every request. */
  readonly sessionCheckMs: number | null
  readonly audit: Audit
  /**
   * Logins, and separately refreshes, that one network may try per minute; 0 for no limit. Null turns all rate limits
   * off.
   */
  readonly attemptsPerMinute: number | null
  /** Maximum size of the response cache in bytes; 0 turns it off. */
  readonly cacheBytes: number
  readonly graphql: GraphQLOptions
  /** Memory budget of all requests in flight. The HTTP server charges unsent response bytes to the same budget. */
  readonly inFlight: InFlightBytes
  /** The HTTP server reports its new connections to the same object. */
  readonly accepting: Pick<Accepting, 'isHolding'>
  /**
   * Milliseconds that a request may wait before work on it begins. Requests that could not begin within it are refused.
   */
  readonly maxQueueDelayMs: number
  /** Called when the gateway starts to refuse requests, and when it stops, with the number of requests refused. */
  readonly onOverload?: (isRefusing: boolean, refused: number) => void
  /** Callbacks that feed the metrics; absent when metrics are off. */
  readonly watch?: GatewayWatch | undefined
  /**
   * Email of the demo user. The web pages sign this user in automatically if it exists and the login guard is `local`.
   */
  readonly demoEmail: string | null
  /** Example documents for the OpenAPI reference, by GraphQL type. */
  readonly examples: OpenApiOptions['examples']
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  readonly report: ReportFailure
  readonly isDraining: () => boolean
  /** If absent, there is no POST /import. */
  readonly importing?: ImportServices | undefined
  /** If absent, no REST route is retired. */
  readonly retirement?: RetirementPlan | undefined
  /** If absent, requests are not shadowed to another server. */
  readonly shadow?: ShadowOptions | undefined
  /** Logs the failure of background work, which no client waits for. */
  readonly reportBackground: (error: unknown, what: string) => void
  /** Background work of the gateway. The caller disposes of it before it closes the store. */
  readonly running: AsyncDisposableStack
}

/**
 * Reads the signing keys, and creates one if there is none. Throws what `openKeyset` and `options.createGuard` throw.
 * The caller opens and closes `store`, and disposes of `options.running` before that.
 */
export async function createGateway(store: Store, options: GatewayOptions): Promise<Handler> {
  const { clock, report, basePath, importing } = options
  const keyset = await openKeyset(store, {
    clock,
    cipher: options.keyCipher,
    algorithm: options.tokenAlgorithm,
    audit: options.audit,
    sessionCheckMs: options.sessionCheckMs,
    running: options.running,
    onUnreadable: options.onUnreadableKey,
  })
  const tokens = createAccessTokens(keyset, {
    issuer: options.issuer,
    audience: options.audience,
    ttlSeconds: options.accessTokenTtlSeconds,
    clock,
    onIssuedAhead: options.onTokenIssuedAhead,
  })
  const admission = createAdmission({
    accepting: options.accepting,
    maxDelayMs: options.maxQueueDelayMs,
    now: () => performance.now(),
    nextTurn: setImmediate,
    later: (run, milliseconds) => void setTimeout(run, milliseconds).unref(),
    onChange: options.onOverload ?? (() => {}),
    onDelay: options.watch?.onQueueDelay ?? (() => {}),
  })
  const sessions = createSessions(store, tokens, {
    ...options,
    // One lookup per turn for all requests costs least. But a request that begins ahead of a queue of a few owners does
    // not wait for the turn in which theirs begin.
    scheduleLookups: (flush) => (admission.isQueueOfFew() ? process.nextTick(flush) : setImmediate(flush)),
  })
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
  const yieldTurn = createRoundRobin(USUAL, options.accepting)
  const cache = createResponseCache(options.cacheBytes)
  options.watch?.onCache(cache.size)
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
      maxRunning: MAX_CONCURRENT_PER_USER,
      freeWaiting: FREE_WAITING_PER_USER,
      maxWaitMs: options.maxQueueDelayMs,
    }),
    takeTurn: createTakeTurn(admission, ownerOf),
    yieldTurn,
    paceReading: createTurnQuota(yieldTurn),
    clock,
  }
  const schema = createSchema()
  const build = await openExplorerBuild()
  const graphql = createGraphQLEndpoints(schema, services, options.graphql, report)
  const page = createPage(build, basePath, graphql.load)
  const schemaDocuments = createSchemaDocuments(options.graphql)
  const endpoints = [
    ...createPageEndpoints(page, basePath, schemaDocuments.length > 0),
    ...(build?.files ?? []),
    createOpenApiEndpoint(schema, { basePath, examples: options.examples, retirement: options.retirement }),
    ...schemaDocuments,
    createExplorerDataEndpoint({
      basePath,
      loginGuard: guard.name,
      async findDemoEmail() {
        const { demoEmail } = options
        const isOffered = guard.name === 'local' && demoEmail !== null && (await store.userByEmail(demoEmail)) !== null
        return isOffered ? demoEmail : null
      },
    }),
    ...createRestEndpoints(services, options.graphql.isTraceEnabled),
    ...(importing
      ? [
          createImportEndpoint(
            importing.importer,
            createImportAccess({ token: importing.token, store, limits }),
            options,
          ),
        ]
      : []),
    ...graphql.endpoints.map((endpoint) => withGraphiql(endpoint, page)),
    createProbeEndpoint({ keyset, clock }),
    ...createOperationsEndpoints(keyset, { ping: store.ping, isDraining: options.isDraining }),
  ]
  const guarded = endpoints.map((endpoint) =>
    HEALTH_PATHS.has(endpoint.path) ? endpoint : withAdmission(endpoint, admission, ownerOf),
  )
  const admitted = options.shadow ? guarded.map(createShadowing(options.shadow, sessions, options.running)) : guarded
  const pipeline = createRoutedPipeline(admitted, options)
  return build ? withEmptyPage(pipeline, build, basePath) : pipeline
}

function createRoutedPipeline(admitted: readonly Endpoint[], options: GatewayOptions): Handler {
  if (!options.retirement || options.retirement.size === 0) return createPipeline(admitted, options)
  const { announce, refuse } = createRetirement(options.retirement, options.clock)
  return createPipeline(admitted.map(refuse), { ...options, announce })
}
