// All the wiring of a gateway, from an open store to a handler of requests.
import { createAccessTokens } from './auth/access-token.ts'
import type { LoginGuard } from './auth/guards/guard.ts'
import { openKeyset } from './auth/keyset.ts'
import { createSessions } from './auth/sessions.ts'
import { createSignIn } from './auth/sign-in.ts'
import { createReads } from './graphql/reads.ts'
import { createSchema } from './graphql/schema.ts'
import type { ReportFailure } from './http/failures.ts'
import { createGraphQLEndpoints } from './http/graphql.ts'
import type { Handler } from './http/handler.ts'
import { createOperationsEndpoints } from './http/operations.ts'
import { createHomeEndpoint, withGraphiql } from './http/pages.ts'
import { createPipeline } from './http/pipeline.ts'
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
  const signIn = createSignIn(sessions, options)
  const services = { reads: createReads(store), sessions, signIn, cache: createReplyCache(options.cacheBytes) }
  const endpoints = [
    createHomeEndpoint(basePath),
    ...createRestEndpoints(services),
    ...createGraphQLEndpoints(createSchema(), services, report).map((endpoint) => withGraphiql(endpoint, basePath)),
    ...createOperationsEndpoints({ keyset, ping: store.ping, isDraining: options.isDraining }),
  ]
  return createPipeline(endpoints, options)
}
