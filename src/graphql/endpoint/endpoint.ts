// The GraphQL endpoint: handles every request the same way, whatever its method, `Accept` header and operation.
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

export interface GraphQLEndpoints {
  readonly endpoints: readonly Endpoint[]
  /** Loads the GraphQL engine before the first query. A user who opens a page is about to send one. */
  readonly load: () => void
}

export function createGraphQLEndpoints(
  schema: GraphQLSchema,
  services: EndpointServices,
  options: GraphQLOptions,
  report: ReportFailure,
): GraphQLEndpoints {
  const negotiate = createMediaTypeNegotiator(RESPONSE_TYPES)
  // Loaded lazily: it would take a third of the start-up time.
  const answer = lazyAsync<Answer>(async () => {
    const { createAnswer } = await import('./answer.ts')
    return createAnswer(schema, services, options, report)
  })

  async function handle(request: GatewayRequest): Promise<GatewayResponse> {
    const type = negotiate(request.header('accept'))
    try {
      // Checked first: a login whose response the client cannot read would open a session that nobody uses.
      if (type === null) throw new GatewayError('NOT_ACCEPTABLE')
      const trace = startTrace(request, options.isTraceEnabled)
      const loading = answer()
      const toAnswer = loading instanceof Promise ? await loading : loading
      const response = await toAnswer(request, type, trace)
      return trace ? trace.write(response) : response
    } catch (error) {
      // A refusal is a GraphQL response too.
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
      // Ignores a failure: the first request that needs the engine loads it again, and reports the error.
      Promise.resolve(answer()).catch(() => {})
    },
  }
}

function reasonsOf(error: unknown): readonly unknown[] {
  return error instanceof RefusedDocument ? error.errors : [error]
}
