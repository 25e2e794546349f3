// The rows of the contract as endpoints.
import { GatewayError } from '../errors.ts'
import { createContext } from '../graphql/context.ts'
import { resolvers } from '../graphql/resolvers/resolvers.ts'
import { documentsReply, exportReply, exportTag, notModified } from './array-reply.ts'
import { viewerOf } from './bearer.ts'
import { matchesEntityTag } from './conditional.ts'
import type { Endpoint, HttpServices } from './handler.ts'
import { isJsonMediaType, parseJson } from './json-body.ts'
import { jsonReply, NO_STORE, type Reply } from './reply.ts'
import type { GatewayRequest } from './request.ts'
import { READ_ROUTES, type ReadRoute, SESSION_ROUTES, type SessionRoute } from './routes.ts'

export function createRestEndpoints(services: HttpServices): readonly Endpoint[] {
  return [
    ...SESSION_ROUTES.map((route) => sessionEndpoint(route, services)),
    ...READ_ROUTES.map((route) => readEndpoint(route, services)),
  ]
}

function sessionEndpoint(route: SessionRoute, services: HttpServices): Endpoint {
  return {
    method: route.method,
    path: route.path,
    async handle(request) {
      const value = await requireField(route, request)
      return jsonReply(await route.resolve(value, createContext(services, request, null)), NO_STORE)
    },
  }
}

async function requireField(route: SessionRoute, request: GatewayRequest): Promise<string> {
  const bytes = await request.body()
  if (bytes.byteLength === 0 && !route.requiresBody) return ''
  if (route.requiresJson && !isJsonMediaType(request.header('content-type'))) {
    throw new GatewayError(bytes.byteLength === 0 ? 'MALFORMED_JSON' : 'UNSUPPORTED_MEDIA_TYPE')
  }
  const { value: body } = parseJson(bytes)
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, route.field) : undefined
  return typeof value === 'string' ? value : ''
}

function isNotModified(request: GatewayRequest, etag: string): boolean {
  return matchesEntityTag(request.header('if-none-match'), etag)
}

/** Made once for a reply that is kept. */
const notModifiedReplies = new WeakMap<Reply, Reply>()

function notModifiedOr(reply: Reply, request: GatewayRequest): Reply {
  const { etag = '' } = reply.headers
  if (!isNotModified(request, etag)) return reply
  const known = notModifiedReplies.get(reply) ?? notModified(etag)
  notModifiedReplies.set(reply, known)
  return known
}

function readEndpoint(route: ReadRoute, services: HttpServices): Endpoint {
  const { cache, sessions } = services
  return {
    method: route.method,
    path: route.path,
    async handle(request) {
      const viewer = await viewerOf(request, sessions)
      const operation = `${route.path}?${request.search}`
      const kept = viewer && cache.find(viewer, operation)
      if (kept) return notModifiedOr(kept, request)
      const context = createContext(services, request, viewer)
      const me = await resolvers.Query.me({}, {}, context)
      if (!me) throw new GatewayError('NO_WORKSPACE')
      const found = await route.resolve(me, new URLSearchParams(request.search), context)
      if ('digest' in found && isNotModified(request, exportTag(found))) return notModified(exportTag(found))
      const reply = 'digest' in found ? await exportReply(found, context.reads) : documentsReply(found)
      if (viewer && context.isOfOneState()) cache.keep(viewer, operation, reply)
      return notModifiedOr(reply, request)
    },
  }
}
