// Reads a GraphQL over HTTP request (draft, sections 5.2 to 5.4), or says why it is not one.
import { GatewayError } from '../../errors.ts'
import { jsonText, parseJson } from '../../http/json-body.ts'
import type { GatewayRequest } from '../../http/request.ts'
import { parseJsonText } from '../../json-text.ts'
import { isJsonMediaType } from '../../media-type.ts'
import { excerpt } from '../../redact.ts'

export interface GraphQLRequest {
  readonly query: string
  /** Undefined if it is absent or empty. */
  readonly operationName: string | undefined
  readonly variables: Readonly<Record<string, unknown>>
}

/** The client sent a list of requests instead of one. */
export class RefusedBatch extends Error {
  override readonly name = 'RefusedBatch'
  readonly length: number

  constructor(length: number) {
    super('a batch is refused')
    this.length = length
  }
}

type Parameters = Readonly<Record<string, unknown>>

const PARAMETERS = new Set(['query', 'operationName', 'variables', 'extensions'])
/** Maximum length of an unknown parameter name that a message repeats. */
const SHOWN_NAME_LENGTH = 40

/**
 * The request as sent: the text of the body for POST, otherwise the query string. Throws `UNSUPPORTED_MEDIA_TYPE` and
 * `MALFORMED_JSON`.
 */
export async function requireSource(request: GatewayRequest): Promise<string> {
  if (request.method !== 'POST') return request.search
  const bytes = await request.body()
  if (!isJsonMediaType(request.header('content-type'))) throw new GatewayError('UNSUPPORTED_MEDIA_TYPE')
  return jsonText(bytes)
}

/** Throws `MALFORMED_JSON`, `BAD_REQUEST`, `PERSISTED_QUERY_NOT_SUPPORTED` and `RefusedBatch`. */
export function requireGraphQLRequest(method: string, source: string): GraphQLRequest {
  const parameters = method === 'POST' ? bodyParameters(source) : queryParameters(source)
  const { query, operationName, variables, extensions } = parameters
  if (!isMapOrNothing(extensions)) throw badRequest('`extensions` must be an object.')
  if (query == null) throw withoutQuery(parameters, extensions ?? {})
  if (typeof query !== 'string') throw badRequest('`query` must be a string.')
  if (operationName != null && typeof operationName !== 'string') throw badRequest('`operationName` must be a string.')
  if (!isMapOrNothing(variables)) throw badRequest('`variables` must be an object.')
  return { query, operationName: operationName || undefined, variables: variables ?? {} }
}

function bodyParameters(text: string): Parameters {
  const value = parseJson(text)
  if (Array.isArray(value)) throw new RefusedBatch(value.length)
  if (!isMapOrNothing(value) || value == null) throw badRequest('The body must be one object with a `query`.')
  return value
}

function queryParameters(search: string): Parameters {
  const query = new URLSearchParams(search)
  return {
    ...Object.fromEntries(query),
    query: query.get('query') ?? undefined,
    operationName: query.get('operationName') ?? undefined,
    variables: jsonParameter(query, 'variables'),
    extensions: jsonParameter(query, 'extensions'),
  }
}

function jsonParameter(query: URLSearchParams, name: string): unknown {
  const text = query.get(name)
  if (!text) return undefined
  try {
    return parseJsonText(text)
  } catch {
    throw badRequest(`\`${name}\` must be JSON.`)
  }
}

function isMapOrNothing(value: unknown): value is Parameters | null | undefined {
  return value == null || (typeof value === 'object' && !Array.isArray(value))
}

/** Unknown and reserved parameters are ignored beside a `query`. Without a `query`, they tell what the client tried. */
function withoutQuery(parameters: Parameters, extensions: Parameters): GatewayError {
  if (extensions.persistedQuery != null || parameters.documentId != null) {
    return new GatewayError('PERSISTED_QUERY_NOT_SUPPORTED')
  }
  const unknown = Object.keys(parameters).find((name) => parameters[name] != null && !PARAMETERS.has(name))
  return unknown === undefined ? badRequest('The request has no `query`.') : unknownParameter(unknown)
}

/** Repeats the name only if it cannot contain a secret. */
function unknownParameter(name: string): GatewayError {
  const shown = /^[A-Za-z_]+$/.test(name) && name.length <= SHOWN_NAME_LENGTH ? ` \`${excerpt(name)}\`` : ''
  return badRequest(`The request has a parameter${shown} that is not one of ${[...PARAMETERS].join(', ')}.`)
}

function badRequest(message: string): GatewayError {
  return new GatewayError('BAD_REQUEST', { message })
}
