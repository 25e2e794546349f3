// All the wiring of a gateway, from an open store to a handler of requests.
import { createAccessTokens } from './auth/access-token.ts'
import type { LoginGuard } from './auth/guards/guard.ts'
import { openKeyset } from './auth/keyset.ts'
import { createSessions } from './auth/sessions.ts'
import { createSignIn } from './auth/sign-in.ts'
import { createReads } from './graphql/reads.ts'
import { createSchema } from './graphql/schema.ts'
import { openExplorerBuild } from './http/explorer-build.ts'
import { createExplorerDataEndpoint } from './http/explorer-data.ts'
import type { ReportFailure } from './http/failures.ts'
import { createGraphQLEndpoints } from './http/graphql.ts'
import type { Handler } from './http/handler.ts'
import { createOpenApiEndpoint, type OpenApiOptions } from './http/openapi.ts'
import { createOperationsEndpoints } from './http/operations.ts'
import { createPage, createPageEndpoints, withGraphiql } from './http/pages.ts'
import { createPipeline } from './http/pipeline.ts'
import { API_VERSION } from './http/reply.ts'
import { createReplyCache } from './http/reply-cache.ts'
import { createRestEndpoints } from './http/rest.ts'
import type { Store } from './store/store.ts'

export interface GatewayOptions {
  readonly guard: LoginGuard
  readonly basePath: string
  readonly corsOrigins: readonly string[]
  readonly issuer: string
  readonly audience: string
  readonly accessTokenTtlSeconds: number
  readonly refreshIdleTtlSeconds: number
  readonly refreshAbsoluteTtlSeconds: number
  readonly attemptsPerMinute: number
  /** Of finished replies that are kept; 0 keeps none. */
  readonly cacheBytes: number
  /** The user of the demo workspace, whom the pages sign in by themselves when they exist and the guard is `local`. */
  readonly demoEmail: string | null
  /** What the reference shows of documents, by GraphQL type. */
  readonly examples: OpenApiOptions['examples']
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  readonly report: ReportFailure
  readonly isDraining: () => boolean
}

export async function createGateway(store: Store, options: GatewayOptions): Promise<Handler> {
  const { clock, report, basePath } = options
  const keyset = await openKeyset(store, clock)
  const tokens = createAccessTokens(keyset, {
    issuer: options.issuer,
    audience: options.audience,
    ttlSeconds: options.accessTokenTtlSeconds,
    clock,
  })
  const sessions = createSessions(store, tokens, options)
  const signIn = await createSignIn(sessions, options)
  const services = { reads: createReads(store), sessions, signIn, cache: createReplyCache(options.cacheBytes) }
  const schema = createSchema()
  const build = await openExplorerBuild()
  const page = createPage(build, basePath)
  const endpoints = [
    ...createPageEndpoints(page, basePath),
    ...(build?.files ?? []),
    createOpenApiEndpoint(schema, { apiVersion: API_VERSION, basePath, examples: options.examples }),
    createExplorerDataEndpoint({
      apiVersion: API_VERSION,
      basePath,
      loginGuard: options.guard.name,
      async findDemoEmail() {
        const { guard, demoEmail } = options
        const isOffered = guard.name === 'local' && demoEmail !== null && (await store.userByEmail(demoEmail)) !== null
        return isOffered ? demoEmail : null
      },
    }),
    ...createRestEndpoints(services),
    ...createGraphQLEndpoints(schema, services, report).map((endpoint) => withGraphiql(endpoint, page)),
    ...createOperationsEndpoints({ keyset, ping: store.ping, isDraining: options.isDraining }),
  ]
  return createPipeline(endpoints, options)
}
