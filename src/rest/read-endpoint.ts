// Serves the reads of the contract: from the cache, as 304, or with an answer that is made now.
import { viewerOf } from '../auth/bearer.ts'
import { createCoalescing, isSentAtOnce } from '../http/caching/coalescing.ts'
import { matchingEntityTag, requireMatch } from '../http/caching/conditional.ts'
import type { Compression } from '../http/compression/compression.ts'
import type { Endpoint } from '../http/handler.ts'
import {
  type AcceptedCodings,
  type ReadAcceptEncoding,
  requireAcceptableCoding,
  uncodedEntityTag,
} from '../http/negotiation/content-coding.ts'
import type { GatewayRequest } from '../http/request.ts'
import { beginStep, endStep } from '../http/request-record.ts'
import type { GatewayResponse } from '../http/response.ts'
import type { EndpointServices } from '../resolvers/services.ts'
import type { Awaitable } from '../store/contract.ts'
import { notModified } from './collection-response.ts'
import { type CacheableReply, createMakeAnswer, type ReadAnswer } from './read-answer.ts'
import type { ReadRoute } from './routes.ts'

/** What all read endpoints share. */
export interface ReadCoding {
  readonly readAcceptEncoding: ReadAcceptEncoding
  readonly compression: Compression
}

export function readEndpoint(
  route: ReadRoute,
  services: EndpointServices,
  { readAcceptEncoding, compression }: ReadCoding,
): Endpoint {
  const { cache, sessions, limitMaking } = services
  const make = createMakeAnswer(route, services)
  const coalesce = createCoalescing<ReadAnswer>({ isOn: cache.size().maxBytes > 0, limit: limitMaking })

  /** Returns the reply synchronously when it needs no coding. */
  function encode(
    { reply, state }: CacheableReply,
    operation: string,
    accepted: AcceptedCodings,
  ): Awaitable<GatewayResponse> {
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
      const makeOwn = () => make(viewer, request, operation)
      const answered = holdings.use(await coalesce(viewer, operation, makeOwn, request.onClosed))
      const { head, whole } = answered.value
      const unchanged = notModifiedOf(head, request, accepted)
      if (unchanged) return unchanged
      const reply = await encode(await whole(), operation, accepted)
      return isSentAtOnce(reply) ? reply : { ...reply, held: holdings.move() }
    },
  }
}

/**
 * Returns the cache key of a request. A route without parameters ignores the query: many clients add a timestamp to
 * bypass caches.
 */
function operationOf({ path, parameter }: ReadRoute, { search }: GatewayRequest): string {
  return parameter === undefined || search === '' ? path : `${path}?${search}`
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
