// Turns the rows of the contract into endpoints: reads bodies and parameters, and caches replies by operation.
import { GatewayError } from '../errors.ts'
import { viewerOf } from '../http/bearer.ts'
import { createCoalescing, isSentAtOnce } from '../http/caching/coalescing.ts'
import { matchingEntityTag, requireMatch } from '../http/caching/conditional.ts'
import { uncacheable } from '../http/caching/response-cache.ts'
import { type Compression, createCompression } from '../http/compression/compression.ts'
import type { Endpoint } from '../http/handler.ts'
import { jsonText, parseJson } from '../http/json-body.ts'
import { lazyAsync } from '../http/lazy.ts'
import type { Reservation } from '../http/limits/in-flight-bytes.ts'
import {
  type AcceptedCodings,
  createAcceptEncodingReader,
  type ReadAcceptEncoding,
  requireAcceptableCoding,
  uncodedEntityTag,
} from '../http/negotiation/content-coding.ts'
import type { GatewayRequest } from '../http/request.ts'
import { beginStep, endStep } from '../http/request-record.ts'
import { type GatewayResponse, jsonResponse, NO_STORE } from '../http/response.ts'
import { isJsonMediaType } from '../media-type.ts'
import { answerConsistently } from '../resolvers/consistent-answer.ts'
import { type Context, createContext } from '../resolvers/context.ts'
import { createRequestBudget, UNCOUNTED, UNLIMITED } from '../resolvers/request-budget.ts'
import { resolvers } from '../resolvers/resolvers.ts'
import type { EndpointServices } from '../resolvers/services.ts'
import { traced } from '../resolvers/tracing/trace.ts'
import { withTracedReads } from '../resolvers/tracing/traced-reads.ts'
import type { Awaitable, LiveSession, StoredExport } from '../store/contract.ts'
import { documentsResponse, exportMetadataResponse, exportResponse, notModified } from './collection-response.ts'
import { READ_ROUTES, type ReadRoute, SESSION_ROUTES, type SessionRoute } from './routes.ts'

/**
 * Maximum size of the body of a session call, which is an email or a token: parsing 1 MiB of JSON takes tens of
 * milliseconds of one turn.
 */
const MAX_FIELDS_BYTES = 16_384

/** Shared by all read endpoints. */
interface Shared {
  readonly readAcceptEncoding: ReadAcceptEncoding
  readonly compression: Compression
}

/** With `isTraceEnabled` the endpoints send the header `Gateway-Trace`. */
export function createRestEndpoints(services: EndpointServices, isTraceEnabled: boolean): readonly Endpoint[] {
  const shared = {
    readAcceptEncoding: createAcceptEncodingReader(),
    compression: createCompression(services.cache, services.inFlight),
  }
  const endpoints = [
    ...SESSION_ROUTES.map((route) => sessionEndpoint(route, services)),
    ...READ_ROUTES.map((route) => readEndpoint(route, services, shared)),
  ]
  return isTraceEnabled ? endpoints.map(traced) : endpoints
}

function sessionEndpoint(route: SessionRoute, services: EndpointServices): Endpoint {
  return {
    method: route.method,
    path: route.path,
    bodyLimitBytes: MAX_FIELDS_BYTES,
    async handle(request) {
      const { value, option } = await readFields(route, request)
      const startedAt = beginStep(request.record)
      const answer = await route.resolve(value, createContext(services, request, null, UNCOUNTED), option)
      endStep(request.record, 'sign-in', startedAt)
      return jsonResponse(answer, NO_STORE)
    },
  }
}

interface Fields {
  readonly value: string
  readonly option: string | null
}

async function readFields(route: SessionRoute, request: GatewayRequest): Promise<Fields> {
  const bytes = await request.body()
  if (bytes.byteLength === 0 && !route.requiresBody) return { value: '', option: null }
  if (route.requiresJson && !isJsonMediaType(request.header('content-type'))) {
    throw new GatewayError(bytes.byteLength === 0 ? 'MALFORMED_JSON' : 'UNSUPPORTED_MEDIA_TYPE')
  }
  const body = parseJson(jsonText(bytes))
  const member = (name: string): unknown =>
    typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined
  const option = route.optionalField === undefined ? null : (member(route.optionalField) ?? null)
  return { value: textOf(member(route.field)), option: option === null ? null : textOf(option) }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/**
 * Returns the 304 when the request holds a current copy of this reply, in any coding that it accepts; null otherwise.
 * Throws `PRECONDITION_FAILED` when `If-Match` does not name this reply.
 */
function notModifiedOf(
  reply: GatewayResponse,
  request: GatewayRequest,
  accepted: AcceptedCodings,
): GatewayResponse | null {
  const { etag = '', 'content-encoding': coding } = reply.headers
  const entityTag = uncodedEntityTag(etag, coding)
  requireMatch(request.header('if-match'), etag, entityTag, accepted)
  const matching = matchingEntityTag(request.header('if-none-match'), etag, entityTag, accepted)
  if (matching === null) return null
  if (matching !== etag) return notModified(matching)
  const known = reply.derived?.notModified ?? notModified(etag)
  if (reply.derived) reply.derived.notModified = known
  return known
}

/** A reply, and the session that it may be cached for. */
interface Made {
  readonly reply: GatewayResponse
  readonly state: LiveSession | null
}

/** The same for all requests in one state. */
interface Answered {
  /** Its headers are enough to decide whether the client holds a current copy. */
  readonly head: GatewayResponse
  readonly whole: () => Awaitable<Made>
}

/**
 * Returns the cache key of a request. A route without parameters ignores the query: many clients add a timestamp to
 * bypass caches.
 */
function operationOf({ path, parameter }: ReadRoute, { search }: GatewayRequest): string {
  return parameter === undefined || search === '' ? path : `${path}?${search}`
}

/** Throws `MISSING_PARAMETER`: the request is wrong, whatever is stored for the user. */
function readParameter({ parameter }: ReadRoute, { search }: GatewayRequest): string {
  if (parameter === undefined) return ''
  const value = new URLSearchParams(search).get(parameter)
  if (value === null || value === '') throw new GatewayError('MISSING_PARAMETER')
  return value
}

function readEndpoint(route: ReadRoute, services: EndpointServices, shared: Shared): Endpoint {
  const { cache, sessions, inFlight, limitMaking } = services
  const { readAcceptEncoding, compression } = shared
  const coalesce = createCoalescing<Answered>({ isOn: cache.size().maxBytes > 0, limit: limitMaking })

  /** Reads an export only when a client needs more than its digest. */
  async function read(
    viewer: LiveSession | null,
    request: GatewayRequest,
    operation: string,
    holding: Reservation,
  ): Promise<Answered & { readonly isOfState: boolean }> {
    const openContext = (from: EndpointServices) =>
      createContext(withTracedReads(from, request.record), request, viewer, createRequestBudget(UNLIMITED, holding))
    async function find(reading: Context): Promise<GatewayResponse | StoredExport> {
      const me = await resolvers.Query.me({}, {}, reading)
      const value = readParameter(route, request)
      if (!me) throw new GatewayError('NO_WORKSPACE')
      const resolved = await route.resolve(me, value, reading)
      return 'digest' in resolved ? resolved : documentsResponse(resolved, reading.yieldTurn, holding)
    }

    async function findWhole(reading: Context): Promise<GatewayResponse> {
      const now = await find(reading)
      return 'digest' in now ? exportResponse(now, reading) : now
    }

    const { value: found, context } = await answerConsistently(services, openContext, holding, find)

    /** If the export was removed after it was found, returns what is there now. */
    async function readWhole(snapshot: StoredExport): Promise<GatewayResponse> {
      try {
        return await exportResponse(snapshot, context)
      } catch (error) {
        if (!context.states?.isTorn()) throw error
        return (await answerConsistently(services, openContext, holding, findWhole)).value
      }
    }

    function keep(reply: GatewayResponse): Made {
      const state = viewer && (context.isConsistent() ? viewer : uncacheable(viewer))
      if (state) cache.keep(state, operation, reply)
      return { reply, state }
    }

    if ('digest' in found) {
      const whole = lazyAsync(async () => keep(await readWhole(found)))
      return { head: exportMetadataResponse(found), whole, isOfState: context.isConsistent() }
    }
    const made = keep(found)
    // The send path counts a whole body while it is being sent.
    if (made.reply.body instanceof Uint8Array) holding.shrink(holding.byteLength())
    return { head: made.reply, whole: async () => made, isOfState: context.isConsistent() }
  }

  /** Returns the answer with the memory that it holds until it is sent. */
  async function make(viewer: LiveSession | null, request: GatewayRequest, operation: string) {
    using holdings = new DisposableStack()
    const { isOfState, ...value } = await read(
      viewer,
      request,
      operation,
      holdings.use(inFlight.open(undefined, viewer?.userId)),
    )
    return { value, isOfState, held: holdings.move() }
  }

  /** Returns the reply synchronously when it needs no coding. */
  function encode({ reply, state }: Made, operation: string, accepted: AcceptedCodings): Awaitable<GatewayResponse> {
    requireAcceptableCoding(accepted)
    return state && accepted.coding ? compression.encode(state, operation, reply, accepted) : reply
  }

  return {
    method: route.method,
    path: route.path,
    async handle(request) {
      const { record } = request
      const checkedAt = beginStep(record)
      const viewer = await viewerOf(request, sessions)
      endStep(record, 'session check', checkedAt)
      record.viewer = viewer
      const accepted = readAcceptEncoding(request.header('accept-encoding'))
      const operation = operationOf(route, request)
      const coded = viewer && compression.find(viewer, operation, accepted)
      if (coded) {
        record.isKept = true
        return notModifiedOf(coded, request, accepted) ?? coded
      }
      const kept = viewer && cache.find(viewer, operation)
      record.isKept = kept != null
      if (kept)
        return notModifiedOf(kept, request, accepted) ?? encode({ reply: kept, state: viewer }, operation, accepted)
      // Released on return, unless the reply takes it along.
      using holdings = new DisposableStack()
      const answered = holdings.use(await coalesce(viewer, operation, () => make(viewer, request, operation)))
      const { head, whole } = answered.value
      const unchanged = notModifiedOf(head, request, accepted)
      if (unchanged) return unchanged
      const reply = await encode(await whole(), operation, accepted)
      return isSentAtOnce(reply) ? reply : { ...reply, held: holdings.move() }
    },
  }
}
