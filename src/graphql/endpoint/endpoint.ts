// The GraphQL endpoint: queries as frontends send them at once, everything else by GraphQL over HTTP in full.
import type { GraphQLSchema } from 'graphql'
import type { Endpoint } from '../../http/handler.ts'
import { lazyAsync } from '../../http/lazy.ts'
import { type ReportFailure, toGraphQLResponse } from '../../http/problem-details.ts'
import type { GatewayRequest } from '../../http/request.ts'
import type { GatewayResponse } from '../../http/response.ts'
import type { EndpointServices } from '../../resolvers/services.ts'
import { createFastPath, type FastPath } from './fast-path.ts'
import { requireAcceptable, requireGraphQLRequest } from './request.ts'
import type { GraphQLOverHttp } from './yoga-handler.ts'

export function createGraphQLEndpoints(
  schema: GraphQLSchema,
  services: EndpointServices,
  report: ReportFailure,
): readonly Endpoint[] {
  // Both are loaded by the first request that needs them: a start would spend a third of its time on them.
  const fast = lazyAsync<FastPath>(async () => {
    const { createCompiledQueries } = await import('../execution/compiled-queries.ts')
    return createFastPath(createCompiledQueries(schema), services)
  })
  const inFull = lazyAsync<GraphQLOverHttp>(async () => {
    const { createGraphQLOverHttp } = await import('./yoga-handler.ts')
    return createGraphQLOverHttp(schema, services, report)
  })

  async function handle(request: GatewayRequest): Promise<GatewayResponse> {
    const accept = requireAcceptable(request)
    const asked = await requireGraphQLRequest(request)
    const answerFast = await fast()
    const reply = await answerFast(request, accept, asked)
    if (reply) return reply
    const answerInFull = await inFull()
    return answerInFull(request, accept, asked)
  }

  /** What is refused before it is executed is still a GraphQL response. */
  async function handleOrRefuse(request: GatewayRequest): Promise<GatewayResponse> {
    try {
      return await handle(request)
    } catch (error) {
      return toGraphQLResponse(error, request, report)
    }
  }

  return [
    { method: 'GET', path: '/graphql', handle: handleOrRefuse },
    { method: 'POST', path: '/graphql', handle: handleOrRefuse },
  ]
}
