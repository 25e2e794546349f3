// Queries as signed-in frontends send them, answered without the whole of GraphQL over HTTP: everything else is left to it.
import type { Sessions } from '../../auth/sessions.ts'
import { GatewayError } from '../../errors.ts'
import { viewerOf } from '../../http/bearer.ts'
import { uncacheable } from '../../http/caching/response-cache.ts'
import { createCompression } from '../../http/compression/compression.ts'
import { createAcceptEncodingReader } from '../../http/negotiation/content-coding.ts'
import type { GatewayRequest } from '../../http/request.ts'
import { type GatewayResponse, GRAPHQL_HEADERS } from '../../http/response.ts'
import { createContext } from '../../resolvers/context.ts'
import { stringifyResult } from '../../resolvers/documents/raw-json.ts'
import type { EndpointServices } from '../../resolvers/services.ts'
import type { LiveSession } from '../../store/contract.ts'
import type { CompiledQueries } from '../execution/compiled-queries.ts'
import type { GraphQLRequest } from './request.ts'

const JSON_RESPONSE = 'application/json; charset=utf-8'
const GRAPHQL_RESPONSE = 'application/graphql-response+json; charset=utf-8'

/** What common clients accept, word for word, and what they are answered with. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '*/*': JSON_RESPONSE,
  'application/json': JSON_RESPONSE,
  'application/graphql-response+json': GRAPHQL_RESPONSE,
}

/** Of stored text in one answer, in UTF-16 code units: half of what a string can hold. */
export const MAX_RAW_LENGTH = 268_435_456

/** Answers a valid query of a signed-in caller that succeeds; null for anything else, and nothing has happened then. */
export type FastPath = (
  request: GatewayRequest,
  accept: string,
  asked: GraphQLRequest,
) => Promise<GatewayResponse | null>

export function createFastPath(queries: CompiledQueries, services: EndpointServices): FastPath {
  const { cache, sessions } = services
  const readAcceptEncoding = createAcceptEncodingReader()
  const compression = createCompression(cache, services.inFlight)
  return async (request, accept, { query, operationName, variables, source }) => {
    const contentType = request.method === 'POST' ? MEDIA_TYPES[accept] : undefined
    if (contentType === undefined) return null
    // Compiling takes time and memory: nothing is compiled or kept for strangers.
    const viewer = await signedInViewer(request, sessions)
    if (!viewer) return null
    const compiled = queries.get(query, operationName)
    if (!compiled) return null
    const operation = `${contentType}\n${source}`
    const accepted = readAcceptEncoding(request.header('accept-encoding'))
    const isCoded = accepted.coding !== null
    const coded = isCoded && compression.find(viewer, operation, accepted)
    if (coded) return coded
    const kept = cache.find(viewer, operation)
    if (kept) return isCoded ? compression.encode(viewer, operation, kept, accepted) : kept
    const context = createContext(services, request, viewer)
    const data = await compiled.answer(context, variables)
    if (!data) return null
    const text = compiled.hasRawJson ? stringifyResult(data, MAX_RAW_LENGTH) : JSON.stringify(data)
    const reply = {
      status: 200,
      headers: { ...GRAPHQL_HEADERS, 'content-type': contentType },
      body: Buffer.from(`{"data":${text}}`),
      derived: {},
    }
    const state = context.isConsistent() ? viewer : uncacheable(viewer)
    cache.keep(state, operation, reply)
    return isCoded ? compression.encode(state, operation, reply, accepted) : reply
  }
}

/** Null for a bad token too: only the operation says whether the token is looked at, and nobody has read it yet. */
async function signedInViewer(request: GatewayRequest, sessions: Sessions): Promise<LiveSession | null> {
  try {
    return await viewerOf(request, sessions)
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'INVALID_TOKEN') return null
    throw error
  }
}
