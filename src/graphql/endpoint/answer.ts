// Answers one GraphQL request: identifies the viewer, looks in the response cache, prepares the document, executes it,
// encodes it.
import { type GraphQLSchema, OperationTypeNode } from 'graphql'
import { GatewayError } from '../../errors.ts'
import { createCoalescing, isSentAtOnce } from '../../http/caching/coalescing.ts'
import { uncacheable } from '../../http/caching/response-cache.ts'
import { createCompression } from '../../http/compression/compression.ts'
import type { Reservation } from '../../http/limits/in-flight-bytes.ts'
import {
  type AcceptedCodings,
  createAcceptEncodingReader,
  requireAcceptableCoding,
} from '../../http/negotiation/content-coding.ts'
import type { ReportFailure } from '../../http/problem-details.ts'
import type { GatewayRequest } from '../../http/request.ts'
import { requestIdOf } from '../../http/request-id.ts'
import { beginStep, endStep } from '../../http/request-record.ts'
import type { GatewayResponse } from '../../http/response.ts'
import { answerConsistently, answerOnce } from '../../resolvers/consistent-answer.ts'
import { type Context, createContext } from '../../resolvers/context.ts'
import { createRequestBudget } from '../../resolvers/request-budget.ts'
import type { EndpointServices } from '../../resolvers/services.ts'
import type { Trace } from '../../resolvers/tracing/trace.ts'
import { withTracedReads } from '../../resolvers/tracing/traced-reads.ts'
import type { Awaitable, LiveSession } from '../../store/contract.ts'
import { createDocuments } from '../document/documents.ts'
import { createPrepareDocument, type DocumentPolicy, placesOf } from '../document/prepare-document.ts'
import type { PreparedDocument, PreparedOperation } from '../document/prepared-document.ts'
import { withoutOperation } from '../document/refused-document.ts'
import { createExecutor } from '../execution/execute.ts'
import { createTurnClock } from '../execution/turn-clock.ts'
import { createReadLong, isLong } from './long-requests.ts'
import type { ResponseType } from './media-types.ts'
import type { Audience, GraphQLOptions } from './options.ts'
import { type GraphQLRequest, requireGraphQLRequest, requireSource } from './request.ts'
import { type MadeResponse, toResponse } from './response.ts'
import { type Identified, identify } from './viewer.ts'
import { writeErrorsInTurns } from './written-errors.ts'

/** The request, its viewer, and the media type of the response. */
interface Asking {
  readonly request: GatewayRequest
  readonly viewer: LiveSession | null
  readonly type: ResponseType
}

interface Executed extends Pick<MadeResponse, 'response'> {
  /** The session whose cache may hold the response; null if the same request might be answered differently. */
  readonly state: LiveSession | null
}

/** Answers one request. Throws `GatewayError`, `RefusedDocument`, `RefusedBatch` and `RequestAborted`. */
export type Answer = (request: GatewayRequest, type: ResponseType, trace: Trace | null) => Promise<GatewayResponse>

export function createAnswer(
  schema: GraphQLSchema,
  services: EndpointServices,
  options: GraphQLOptions,
  report: ReportFailure,
): Answer {
  const { cache, sessions, inFlight, limitMaking, takeTurn } = services
  const readAcceptEncoding = createAcceptEncodingReader()
  const compression = createCompression(cache, inFlight)
  const coalesce = createCoalescing<Executed>({ isOn: cache.size().maxBytes > 0, limit: limitMaking })
  const documents = createDocuments(createPrepareDocument(schema, options.documentLimits), options.documents)
  const readLong = createReadLong(inFlight)
  const executor = createExecutor({ schema, clock: createTurnClock() })

  const whyRefused = options.introspection === 'nobody' ? 'refused' : 'signIn'

  function hidesSuggestions(viewer: LiveSession | null): boolean {
    return !isOf(options.suggestions, viewer)
  }

  /**
   * With a bad token, introspection is allowed here because the query is then refused for the token, which tells the
   * client what to fix. A mutation, which ignores the token, cannot select the schema.
   */
  function policyFor({ viewer, refusal }: Identified): DocumentPolicy {
    const isAllowed = isOf(options.introspection, viewer) || (options.introspection === 'signed-in' && refusal !== null)
    return { introspection: isAllowed ? 'allowed' : whyRefused, hideSuggestions: hidesSuggestions(viewer) }
  }

  async function prepareInTurn(text: string, request: GatewayRequest, who: Identified) {
    const owner = who.viewer?.userId ?? null
    const turn = takeTurn(request, placesOf(text))
    if (turn) await turn
    // Another request may have prepared it while this one waited.
    return (turn && documents.find(text, owner)) ?? documents.prepare(text, owner, policyFor(who))
  }

  /** The cached response for this user, in exactly the state that the session lookup saw. */
  function findKept(
    viewer: LiveSession,
    name: string,
    accepted: AcceptedCodings,
  ): Awaitable<GatewayResponse | undefined> {
    const coded = compression.find(viewer, name, accepted)
    if (coded) return coded
    const kept = cache.find(viewer, name)
    return kept && accepted.coding !== null ? compression.encode(viewer, name, kept, accepted) : kept
  }

  async function execute(
    operation: PreparedOperation,
    { variables }: GraphQLRequest,
    { request, viewer, type }: Asking,
    name: string,
    holding: Reservation,
  ): Promise<Executed & { readonly isOfState: boolean }> {
    const openContext = (from: EndpointServices) =>
      createContext(
        withTracedReads(from, request.record),
        request,
        viewer,
        createRequestBudget(options.requestLimits, holding),
      )
    const hideSuggestions = hidesSuggestions(viewer)
    const startedAt = beginStep(request.record)
    const run = (context: Context) => executor.execute(operation, variables, context, { hideSuggestions })
    const { value, context } = isQuery(operation)
      ? await answerConsistently(services, openContext, holding, run)
      : await answerOnce(openContext(services), run)
    endStep(request.record, 'graphql execute', startedAt)
    const { data, errors } = value
    const reportHere: ReportFailure = (failure) => report(failure, requestIdOf(request))
    const written = await writeErrorsInTurns(errors, reportHere, context.yieldTurn)
    const { response: made, isRepeatable } = toResponse(data, written, type, context.yieldTurn)
    const { operationName } = request.record
    const response = operationName === null ? made : { ...made, operationName }
    if (!isRepeatable || !viewer || !isQuery(operation)) return { response, state: null, isOfState: false }
    const state = context.isConsistent() ? viewer : uncacheable(viewer)
    cache.keep(state, name, response)
    return { response, state, isOfState: context.isConsistent() }
  }

  /** Executes the operation. `held` is the memory that the response reserves until it is sent. */
  async function make(operation: PreparedOperation, asked: GraphQLRequest, asking: Asking, name: string) {
    const held = inFlight.open(undefined, asking.viewer?.userId)
    try {
      const value = await execute(operation, asked, asking, name, held)
      // The HTTP server counts a body in one piece while it sends it.
      if (value.response.body instanceof Uint8Array) held.shrink(held.byteLength())
      return { value, isOfState: value.isOfState, held }
    } catch (error) {
      held[Symbol.dispose]()
      throw error
    }
  }

  return async (request, type, trace) => {
    const accepted = readAcceptEncoding(request.header('accept-encoding'))
    requireAcceptableCoding(accepted)
    const source = await requireSource(request)
    const who = await identify(request, sessions)
    const { viewer, refusal } = who
    trace?.step('identify')
    const name = `${type} ${request.method} ${source}`
    const finding = viewer && findKept(viewer, name, accepted)
    // Skips the microtask unless the cached response must still be compressed.
    const kept = finding instanceof Promise ? await finding : finding
    if (kept) {
      request.record.isKept = true
      request.record.operationName = kept.operationName ?? null
      if (trace) trace.reply = 'kept'
      return kept
    }
    // A cache hit needs no parsing: its key is the request text, which was parsed when the response was made.
    const read = () => requireGraphQLRequest(request.method, source)
    const asked = isLong(source) ? await readLong(source, who, read) : read()
    const found = documents.find(asked.query, viewer?.userId ?? null)
    if (trace) trace.plan = found ? 'kept' : 'new'
    const document = found ?? (await prepareInTurn(asked.query, request, who))
    trace?.step('document')
    const operation = requireOperation(document, asked.operationName, request)
    request.record.operationName = operation.definition.name?.value ?? null
    if (isQuery(operation) && refusal) throw refusal
    // Releases the reservation here, unless the response takes it along.
    using holdings = new DisposableStack()
    const asking = { request, viewer, type }
    const makeOwn = () => make(operation, asked, asking, name)
    const sharer = isQuery(operation) ? viewer : null
    const executed = holdings.use(await coalesce(sharer, name, makeOwn, request.onClosed))
    trace?.step('execute')
    const { response: made, state } = executed.value
    const response = state && accepted.coding !== null ? await compression.encode(state, name, made, accepted) : made
    return isSentAtOnce(response) ? response : { ...response, held: holdings.move() }
  }
}

function isOf(audience: Audience, viewer: LiveSession | null): boolean {
  return audience === 'everyone' || (audience === 'signed-in' && viewer !== null)
}

function isQuery({ definition }: PreparedOperation): boolean {
  return definition.operation === OperationTypeNode.QUERY
}

function requireOperation(
  document: PreparedDocument,
  name: string | undefined,
  { method }: GatewayRequest,
): PreparedOperation {
  const operation = document.operation(name)
  if (!operation) throw withoutOperation(name)
  if (method !== 'POST' && operation.definition.operation !== OperationTypeNode.QUERY) {
    throw new GatewayError('METHOD_NOT_ALLOWED', { allow: 'POST', message: 'A mutation needs a POST request.' })
  }
  return operation
}
