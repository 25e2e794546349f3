// Queries as frontends send them, answered without the whole of GraphQL over HTTP: everything else is left to it.
import type { CompiledQueries } from '../graphql/compiled-queries.ts'
import { createContext } from '../graphql/context.ts'
import { stringifyResult } from '../graphql/raw-json.ts'
import { viewerOf } from './bearer.ts'
import type { HttpServices } from './handler.ts'
import { NO_STORE, type Reply } from './reply.ts'
import type { GatewayRequest } from './request.ts'

const JSON_RESPONSE = 'application/json; charset=utf-8'
const GRAPHQL_RESPONSE = 'application/graphql-response+json; charset=utf-8'

/** What common clients accept, word for word, and what they are answered with. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '': JSON_RESPONSE,
  '*/*': JSON_RESPONSE,
  'application/json': JSON_RESPONSE,
  'application/graphql-response+json': GRAPHQL_RESPONSE,
}

/** Of stored text in one answer, in UTF-16 code units: half of what a string can hold. */
export const MAX_RAW_LENGTH = 268_435_456

const KNOWN_PARAMETERS = new Set(['query', 'variables', 'operationName'])

/** Answers a valid query that succeeds; null for anything else, and nothing has happened then. Throws `INVALID_TOKEN`. */
export type FastPath = (request: GatewayRequest, body: unknown) => Promise<Reply | null>

export function createFastPath(queries: CompiledQueries, services: HttpServices): FastPath {
  const { cache, sessions } = services
  return async (request, body) => {
    const contentType = MEDIA_TYPES[request.header('accept') ?? '']
    const parameters = contentType === undefined ? null : readParameters(body)
    if (contentType === undefined || !parameters) return null
    const { query, operationName, variables } = parameters
    const compiled = queries.get(query, operationName)
    if (!compiled) return null
    const viewer = await viewerOf(request, sessions)
    const operation = `${contentType}\n${operationName ?? ''}\n${JSON.stringify(variables)}\n${query}`
    const kept = viewer && cache.find(viewer, operation)
    if (kept) return kept
    const data = await compiled.answer(createContext(services, request, viewer), variables)
    if (!data) return null
    const reply = {
      status: 200,
      headers: { ...NO_STORE, vary: 'Accept, Authorization', 'content-type': contentType },
      body: Buffer.from(`{"data":${stringifyResult(data, MAX_RAW_LENGTH)}}`),
    }
    if (viewer) cache.keep(viewer, operation, reply)
    return reply
  }
}

interface Parameters {
  readonly query: string
  readonly operationName: string | undefined
  readonly variables: Readonly<Record<string, unknown>>
}

function readParameters(body: unknown): Parameters | null {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return null
  const { query, operationName = null, variables = null } = body as Record<string, unknown>
  if (typeof query !== 'string' || (operationName !== null && typeof operationName !== 'string')) return null
  if (typeof variables !== 'object' || Array.isArray(variables)) return null
  for (const name in body) if (!KNOWN_PARAMETERS.has(name)) return null
  return { query, operationName: operationName ?? undefined, variables: (variables ?? {}) as Parameters['variables'] }
}
