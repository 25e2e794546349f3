// The rows of the contract as endpoints.
import { GatewayError } from '../errors.ts'
import { viewerOf } from '../http/bearer.ts'
import { matchingEntityTag } from '../http/caching/conditional.ts'
import { uncacheable } from '../http/caching/response-cache.ts'
import { type Compression, createCompression } from '../http/compression/compression.ts'
import type { Endpoint } from '../http/handler.ts'
import { parseJson } from '../http/json-body.ts'
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
import { createContext } from '../resolvers/context.ts'
import { createRequestBudget, UNCOUNTED, UNLIMITED } from '../resolvers/request-budget.ts'
import { resolvers } from '../resolvers/resolvers.ts'
import type { EndpointServices } from '../resolvers/services.ts'
import { withTracedReads } from '../resolvers/tracing/traced-reads.ts'
import type { LiveSession } from '../store/contract.ts'
import { documentsResponse, exportMetadataResponse, exportResponse, notModified } from './collection-response.ts'
import { READ_ROUTES, type ReadRoute, SESSION_ROUTES, type SessionRoute } from './routes.ts'

/** What the reads share. */
interface Shared {
  readonly readAcceptEncoding: ReadAcceptEncoding
  readonly compression: Compression
}

export function createRestEndpoints(services: EndpointServices): readonly Endpoint[] {
  const shared = {
    readAcceptEncoding: createAcceptEncodingReader(),
    compression: createCompression(services.cache, services.inFlight),
  }
  return [
    ...SESSION_ROUTES.map((route) => sessionEndpoint(route, services)),
    ...READ_ROUTES.map((route) => readEndpoint(route, services, shared)),
  ]
}

function sessionEndpoint(route: SessionRoute, services: EndpointServices): Endpoint {
  return {
    method: route.method,
    path: route.path,
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
  const { value: body } = parseJson(bytes)
  const member = (name: string): unknown =>
    typeof body === 'object' && body !== null ? Reflect.get(body, name) : undefined
  const option = route.optionalField === undefined ? null : (member(route.optionalField) ?? null)
  return { value: textOf(member(route.field)), option: option === null ? null : textOf(option) }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The 304 to a request that holds what this reply would answer, in whatever coding it accepts; null when it does not. */
function notModifiedOf(
  reply: GatewayResponse,
  request: GatewayRequest,
  accepted: AcceptedCodings,
): GatewayResponse | null {
  const { etag = '', 'content-encoding': coding } = reply.headers
  const matching = matchingEntityTag(request.header('if-none-match'), etag, uncodedEntityTag(etag, coding), accepted)
  if (matching === null) return null
  if (matching !== etag) return notModified(matching)
  const known = reply.derived?.notModified ?? notModified(etag)
  if (reply.derived) reply.derived.notModified = known
  return known
}

/** A reply, and the session that it may be kept for. */
interface Answered {
  readonly reply: GatewayResponse
  readonly state: LiveSession | null
}

function readEndpoint(route: ReadRoute, services: EndpointServices, shared: Shared): Endpoint {
  const { cache, sessions, inFlight, yieldTurn } = services
  const { readAcceptEncoding, compression } = shared

  /** A 304 where the answer need not be read to know. */
  async function read(
    viewer: LiveSession | null,
    request: GatewayRequest,
    accepted: AcceptedCodings,
    holding: Reservation,
  ): Promise<Answered> {
    const context = createContext(
      withTracedReads(services, request.record),
      request,
      viewer,
      createRequestBudget(UNLIMITED, holding),
    )
    const me = await resolvers.Query.me({}, {}, context)
    if (!me) throw new GatewayError('NO_WORKSPACE')
    const found = await route.resolve(me, new URLSearchParams(request.search), context)
    const reply = !('digest' in found)
      ? await documentsResponse(found, yieldTurn, holding)
      : (notModifiedOf(exportMetadataResponse(found), request, accepted) ?? (await exportResponse(found, context)))
    return { reply, state: viewer && (context.isConsistent() ? viewer : uncacheable(viewer)) }
  }

  async function answer(
    { reply, state }: Answered,
    request: GatewayRequest,
    operation: string,
    accepted: AcceptedCodings,
  ): Promise<GatewayResponse> {
    const unchanged = notModifiedOf(reply, request, accepted)
    if (unchanged) return unchanged
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
      const operation = request.search === '' ? route.path : `${route.path}?${request.search}`
      const coded = viewer && compression.find(viewer, operation, accepted)
      if (coded) {
        record.isKept = true
        return notModifiedOf(coded, request, accepted) ?? coded
      }
      const kept = viewer && cache.find(viewer, operation)
      record.isKept = kept != null
      if (kept) return answer({ reply: kept, state: viewer }, request, operation, accepted)
      // What is read is given back here, unless the answer takes it along.
      using holdings = new DisposableStack()
      const holding = holdings.use(inFlight.open())
      const answered = await read(viewer, request, accepted, holding)
      if (answered.reply.status === 304) return answered.reply
      if (answered.state) cache.keep(answered.state, operation, answered.reply)
      const reply = await answer(answered, request, operation, accepted)
      return holding.byteLength() === 0 || reply.body === null ? reply : { ...reply, held: holdings.move() }
    },
  }
}
