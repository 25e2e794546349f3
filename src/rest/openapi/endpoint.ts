// Serves GET /openapi.json, with the address at which this caller reaches the gateway.
import type { GraphQLSchema } from 'graphql'
import { LRUCache } from 'lru-cache'
import type { Client } from '../../auth/caller.ts'
import { createConstantDocument } from '../../http/caching/constant-document.ts'
import { isHost } from '../../http/forwarding/forwarded-headers.ts'
import type { Endpoint } from '../../http/handler.ts'
import { JSON_TYPE } from '../../http/response.ts'
import { createOpenApi, type OpenApiOptions, serversAt } from './openapi.ts'
import type { Json } from './parts.ts'

const PATH = '/openapi.json'
/** A gateway has few host names. Made-up ones evict each other's documents, and those of names not used lately. */
const MAX_ORIGINS = 8

export function createOpenApiEndpoint(schema: GraphQLSchema, options: OpenApiOptions): Endpoint {
  const documents = new LRUCache<string, Endpoint>({ max: MAX_ORIGINS })
  /** Built once: building takes longer than the rest of an answer, and a caller that makes up a host needs no token. */
  let common: Json | null = null

  function documentFor(origin: string): Endpoint {
    const known = documents.get(origin)
    if (known) return known
    common ??= createOpenApi(schema, options)
    const text = JSON.stringify({ ...common, servers: serversAt(origin, options.basePath) })
    const made = createConstantDocument(PATH, JSON_TYPE, text)
    documents.set(origin, made)
    return made
  }

  return { method: 'GET', path: PATH, handle: (request) => documentFor(originOf(request.client)).handle(request) }
}

/** Returns '' when the caller sent no valid host; server addresses are then relative to the document. */
function originOf({ scheme, host }: Client): string {
  return isHost(host) ? `${scheme}://${host}` : ''
}
