// The GraphQL endpoint: queries as frontends send them at once, everything else by GraphQL over HTTP in full.
import type { GraphQLSchema } from 'graphql'
import { type ReportFailure, toGraphQLReply } from './failures.ts'
import { createFastPath, type FastPath } from './graphql-fast-path.ts'
import type { GraphQLOverHttp } from './graphql-over-http.ts'
import { requireAcceptable, requireGraphQLRequest } from './graphql-request.ts'
import type { Endpoint, HttpServices } from './handler.ts'
import { createOnDemand } from './on-demand.ts'
import type { Reply } from './reply.ts'
import type { GatewayRequest } from './request.ts'

export function createGraphQLEndpoints(
  schema: GraphQLSchema,
  services: HttpServices,
  report: ReportFailure,
): readonly Endpoint[] {
  // Both are loaded by the first request that needs them: a start would spend a third of its time on them.
  const fast = createOnDemand<FastPath>(async () => {
    const { createCompiledQueries } = await import('../graphql/compiled-queries.ts')
    return createFastPath(createCompiledQueries(schema), services)
  })
  const inFull = createOnDemand<GraphQLOverHttp>(async () => {
    const { createGraphQLOverHttp } = await import('./graphql-over-http.ts')
    return createGraphQLOverHttp(schema, services, report)
  })

  async function handle(request: GatewayRequest): Promise<Reply> {
    const accept = requireAcceptable(request)
    const asked = await requireGraphQLRequest(request)
    const answerFast = await fast()
    const reply = await answerFast(request, accept, asked)
    if (reply) return reply
    const answerInFull = await inFull()
    return answerInFull(request, accept, asked)
  }

  /** What is refused before it is executed is still a GraphQL response. */
  async function handleOrRefuse(request: GatewayRequest): Promise<Reply> {
    try {
      return await handle(request)
    } catch (error) {
      return toGraphQLReply(error, request, report)
    }
  }

  return [
    { method: 'GET', path: '/graphql', handle: handleOrRefuse },
    { method: 'POST', path: '/graphql', handle: handleOrRefuse },
  ]
}
