// Serves the session calls of the contract: takes the fields from the body, and answers with tokens or nothing.
import { GatewayError } from '../errors.ts'
import type { Endpoint } from '../http/handler.ts'
import { jsonText, parseJson } from '../http/json-body.ts'
import type { GatewayRequest } from '../http/request.ts'
import { beginStep, endStep } from '../http/request-record.ts'
import { jsonResponse, NO_STORE } from '../http/response.ts'
import { isJsonMediaType } from '../media-type.ts'
import { memberOf } from '../member-of.ts'
import { createContext } from '../resolvers/context.ts'
import { UNCOUNTED } from '../resolvers/request-budget.ts'
import type { EndpointServices } from '../resolvers/services.ts'
import type { SessionRoute } from './routes.ts'

/**
 * Maximum size of the body, which is an email or a token: parsing 1 MiB of JSON takes tens of milliseconds of one turn.
 */
const MAX_FIELDS_BYTES = 16_384

export function sessionEndpoint(route: SessionRoute, services: EndpointServices): Endpoint {
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
  if (bytes.byteLength > 0 && route.requiresJson && !isJsonMediaType(request.header('content-type'))) {
    throw new GatewayError('UNSUPPORTED_MEDIA_TYPE')
  }
  const body = parseJson(jsonText(bytes))
  const option = route.optionalField === undefined ? null : (memberOf(body, route.optionalField) ?? null)
  return { value: textOf(memberOf(body, route.field)), option: option === null ? null : textOf(option) }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
