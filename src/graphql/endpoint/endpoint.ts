// The GraphQL endpoint: one road for every request, whatever its method, its `Accept` and its operation.
import type { GraphQLSchema } from 'graphql'
import { GatewayError } from '../../errors.ts'
import type { Endpoint } from '../../http/handler.ts'
import { lazyAsync } from '../../http/lazy.ts'
import { createMediaTypeNegotiator } from '../../http/negotiation/media-type.ts'
import type { ReportFailure } from '../../http/problem-details.ts'
import type { GatewayRequest } from '../../http/request.ts'
import { requestIdOf } from '../../http/request-id.ts'
import type { GatewayResponse } from '../../http/response.ts'
import type { EndpointServices } from '../../resolvers/services.ts'
import { startTrace } from '../../resolvers/tracing/trace.ts'
import { RefusedDocument } from '../document/refused-document.ts'
import type { Answer } from './answer.ts'
import { JSON_RESPONSE, RESPONSE_TYPES } from './media-types.ts'
import type { GraphQLOptions } from './options.ts'
import { RefusedBatch } from './request.ts'
import { toBatchRefusal, toRefusal } from './response.ts'

export interface GraphQLRoad {
  readonly endpoints: readonly Endpoint[]
  /** Loads the engine before the first query: a user who opens a page is about to send one. */
  readonly load: () => void
}

export function createGraphQLRoad(
  schema: GraphQLSchema,
  services: EndpointServices,
  options: GraphQLOptions,
  report: ReportFailure,
): GraphQLRoad {
  const negotiate = createMediaTypeNegotiator(RESPONSE_TYPES)
  // Not loaded by the start, which would spend a third of its time on it.
  const answer = lazyAsync<Answer>(async () => {
    const { createAnswer } = await import('./answer.ts')
    return createAnswer(schema, services, options, report)
  })

  async function handle(request: GatewayRequest): Promise<GatewayResponse> {
    const type = negotiate(request.header('accept'))
    try {
      // Before anything is done: a login whose answer nobody can read would open a session for nobody.
      if (type === null) throw new GatewayError('NOT_ACCEPTABLE')
      const trace = startTrace(request, options.isTraceEnabled)
      const loading = answer()
      const toAnswer = loading instanceof Promise ? await loading : loading
      const response = await toAnswer(request, type, trace)
      return trace ? trace.write(response) : response
    } catch (error) {
      // What is refused is still a GraphQL response.
      const reportHere: ReportFailure = (failure) => report(failure, requestIdOf(request))
      if (error instanceof RefusedBatch) return toBatchRefusal(error.length, type ?? JSON_RESPONSE, reportHere)
      return toRefusal(reasonsOf(error), type ?? JSON_RESPONSE, reportHere)
    }
  }

  function refuse(error: GatewayError, request: GatewayRequest): GatewayResponse {
    const type = negotiate(request.header('accept'))
    return toRefusal([error], type ?? JSON_RESPONSE, report)
  }

  return {
    endpoints: [
      { method: 'GET', path: '/graphql', handle, refuse },
      { method: 'POST', path: '/graphql', bodyLimitBytes: Number.POSITIVE_INFINITY, handle, refuse },
    ],
    load() {
      // A failure is told to the request that needs it, which tries again.
      Promise.resolve(answer()).catch(() => {})
    },
  }
}

function reasonsOf(error: unknown): readonly unknown[] {
  return error instanceof RefusedDocument ? error.errors : [error]
}
