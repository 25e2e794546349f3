// What a GraphQL over HTTP request asks for (draft, sections 5.2 to 5.4), or why it is not one.
import { GatewayError } from '../../errors.ts'
import { parseJson } from '../../http/json-body.ts'
import type { GatewayRequest } from '../../http/request.ts'
import { isJsonMediaType } from '../../media-type.ts'

export interface GraphQLRequest {
  readonly query: string
  readonly operationName: string | undefined
  readonly variables: Readonly<Record<string, unknown>>
  /** All of it as it was sent: the text of the body, empty for a GET. */
  readonly source: string
}

type Parameters = Readonly<Record<string, unknown>>

const PARAMETERS = new Set(['query', 'operationName', 'variables', 'extensions'])

/** Ranges that one of the two media types of a response is in. */
const ANSWERABLE = /^(?:\*\/\*|application\/(?:\*|json|graphql-response\+json))$/

/**
 * What of `Accept` can be answered. Throws `NOT_ACCEPTABLE`, before anything is done: a login whose answer nobody can read
 * would open a session for nobody.
 */
export function requireAcceptable(request: GatewayRequest): string {
  const accept = request.header('accept')
  if (accept === undefined || accept === '' || accept === '*/*') return '*/*'
  const answerable = accept.split(',').filter((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    return ANSWERABLE.test(type) && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))
  })
  if (answerable.length === 0) throw new GatewayError('NOT_ACCEPTABLE')
  return answerable.join(',')
}

/** Throws `UNSUPPORTED_MEDIA_TYPE`, `MALFORMED_JSON`, `BAD_REQUEST`; no message repeats what was sent. */
export async function requireGraphQLRequest(request: GatewayRequest): Promise<GraphQLRequest> {
  const { source, parameters } =
    request.method === 'POST' ? await bodyParameters(request) : { source: '', parameters: queryParameters(request) }
  for (const name in parameters) {
    if (parameters[name] != null && !PARAMETERS.has(name)) throw badRequest('The request has a parameter nobody knows.')
  }
  const { query, operationName, variables, extensions } = parameters
  if (typeof query !== 'string') throw badRequest('`query` must be a string.')
  if (operationName != null && typeof operationName !== 'string') throw badRequest('`operationName` must be a string.')
  if (!isMapOrNothing(variables)) throw badRequest('`variables` must be an object.')
  if (!isMapOrNothing(extensions)) throw badRequest('`extensions` must be an object.')
  return { query, operationName: operationName ?? undefined, variables: variables ?? {}, source }
}

async function bodyParameters(request: GatewayRequest): Promise<{ source: string; parameters: Parameters }> {
  const bytes = await request.body()
  if (!isJsonMediaType(request.header('content-type'))) throw new GatewayError('UNSUPPORTED_MEDIA_TYPE')
  const { text, value } = parseJson(bytes)
  if (!isMapOrNothing(value) || value == null) throw badRequest('The body must be one object with a `query`.')
  return { source: text, parameters: value }
}

function queryParameters({ search }: GatewayRequest): Parameters {
  const query = new URLSearchParams(search)
  return {
    query: query.get('query') ?? undefined,
    operationName: query.get('operationName') || undefined,
    variables: jsonParameter(query, 'variables'),
    extensions: jsonParameter(query, 'extensions'),
  }
}

function jsonParameter(query: URLSearchParams, name: string): unknown {
  const text = query.get(name)
  if (!text) return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw badRequest(`\`${name}\` must be JSON.`)
  }
}

function isMapOrNothing(value: unknown): value is Parameters | null | undefined {
  return value == null || (typeof value === 'object' && !Array.isArray(value))
}

function badRequest(message: string): GatewayError {
  return new GatewayError('BAD_REQUEST', { message })
}
