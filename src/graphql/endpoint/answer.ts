// A request becomes an answer: who asks, what was kept for them, which document, its execution, its bytes.
import { type GraphQLSchema, OperationTypeNode } from 'graphql'
import { GatewayError } from '../../errors.ts'
import { uncacheable } from '../../http/caching/response-cache.ts'
import { createCompression } from '../../http/compression/compression.ts'
import { createRoundRobin } from '../../http/limits/round-robin-scheduler.ts'
import {
  type AcceptedCodings,
  createAcceptEncodingReader,
  requireAcceptableCoding,
} from '../../http/negotiation/content-coding.ts'
import type { ReportFailure } from '../../http/problem-details.ts'
import type { GatewayRequest } from '../../http/request.ts'
import type { GatewayResponse } from '../../http/response.ts'
import { createContext } from '../../resolvers/context.ts'
import type { EndpointServices } from '../../resolvers/services.ts'
import type { LiveSession } from '../../store/contract.ts'
import { createDocuments } from '../document/documents.ts'
import { createPrepareDocument, type DocumentPolicy } from '../document/prepare-document.ts'
import type { PreparedOperation } from '../document/prepared-document.ts'
import { createExecutor } from '../execution/execute.ts'
import { createTurnClock } from '../execution/turn-clock.ts'
import type { ResponseType } from './media-types.ts'
import type { GraphQLOptions } from './options.ts'
import { type GraphQLRequest, requireGraphQLRequest } from './request.ts'
import { toResponse } from './response.ts'
import type { Trace } from './trace.ts'
import { identify } from './viewer.ts'

/** Throws `GatewayError`, `RefusedDocument`, `ExecutionAborted`. */
export type Answer = (request: GatewayRequest, type: ResponseType, trace: Trace | null) => Promise<GatewayResponse>

export function createAnswer(
  schema: GraphQLSchema,
  services: EndpointServices,
  options: GraphQLOptions,
  report: ReportFailure,
): Answer {
  const { cache, sessions } = services
  const readAcceptEncoding = createAcceptEncodingReader()
  const compression = createCompression(cache, services.inFlight)
  const yieldTurn = createRoundRobin()
  const documents = createDocuments(createPrepareDocument(schema, options.documentLimits), options.documents)
  const executor = createExecutor({ schema, limits: options.writeLimits, clock: createTurnClock(), yieldTurn })

  function policyFor(viewer: LiveSession | null): DocumentPolicy {
    const { introspection } = options
    return {
      isIntrospectionAllowed: introspection === 'everyone' || (introspection === 'signed-in' && viewer !== null),
      hideSuggestions: viewer === null,
    }
  }

  /** What was kept for this user, in the very state their session was looked up in. */
  async function findKept(
    viewer: LiveSession,
    name: string,
    accepted: AcceptedCodings,
  ): Promise<GatewayResponse | undefined> {
    const coded = accepted.coding === null ? undefined : compression.find(viewer, name, accepted)
    if (coded) return coded
    const kept = cache.find(viewer, name)
    return kept && accepted.coding !== null ? compression.encode(viewer, name, kept, accepted) : kept
  }

  async function execute(
    operation: PreparedOperation,
    { variables }: GraphQLRequest,
    request: GatewayRequest,
    viewer: LiveSession | null,
    type: ResponseType,
  ) {
    const context = createContext(services, request, viewer)
    const { hideSuggestions } = policyFor(viewer)
    const execution = await executor.execute(operation, variables, context, { hideSuggestions })
    return { ...toResponse(execution, type, report, yieldTurn), isConsistent: context.isConsistent() }
  }

  return async (request, type, trace) => {
    const accepted = readAcceptEncoding(request.header('accept-encoding'))
    requireAcceptableCoding(accepted)
    const asked = await requireGraphQLRequest(request)
    const { viewer, refusal } = await identify(request, sessions)
    trace?.step('identify')
    const name = `${type} ${request.method} ${asked.source}`
    const kept = viewer && (await findKept(viewer, name, accepted))
    if (kept) {
      if (trace) trace.reply = 'kept'
      return kept
    }
    const { document, isKept } = documents.get(asked.query, viewer?.userId ?? null, policyFor(viewer))
    if (trace) trace.plan = isKept ? 'kept' : 'new'
    trace?.step('document')
    const operation = requireOperation(document.operation(asked.operationName), request)
    const isQuery = operation.definition.operation === OperationTypeNode.QUERY
    if (isQuery && refusal) throw refusal
    const { response, isRepeatable, isConsistent } = await execute(operation, asked, request, viewer, type)
    trace?.step('execute')
    if (!isQuery || !viewer) return response
    const state = isConsistent ? viewer : uncacheable(viewer)
    if (isRepeatable) cache.keep(state, name, response)
    return accepted.coding === null || !isRepeatable ? response : compression.encode(state, name, response, accepted)
  }
}

function requireOperation(operation: PreparedOperation | null, { method }: GatewayRequest): PreparedOperation {
  if (!operation) throw new GatewayError('OPERATION_NOT_FOUND')
  if (method !== 'POST' && operation.definition.operation !== OperationTypeNode.QUERY) {
    throw new GatewayError('METHOD_NOT_ALLOWED', { allow: 'POST', message: 'A mutation needs a POST request.' })
  }
  return operation
}
