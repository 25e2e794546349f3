// Describes a request for the code generator: method, URL, headers, body, and the token that it needs.
import type { ExplorerRoute } from '../../pages/explorer-config.ts'
import { withoutTokens } from '../answer/reading.ts'
import { type Operation, operationIn } from './operation.ts'

/** A JSON value in which `REFRESH_TOKEN` stands for the token of the snippet. */
export type Body = string | number | boolean | null | readonly Body[] | { readonly [name: string]: Body }

/** Placeholder for the refresh token: a snippet signs in or reads the environment, and never contains a token. */
export const REFRESH_TOKEN = '{the refresh token}'

/** The variables of the environment, or of the shell, that hold the tokens of a snippet. */
export const TOKEN_VARIABLES = { accessToken: 'ACCESS_TOKEN', refreshToken: 'REFRESH_TOKEN' } as const

/** Headers that the person wrote; each name occurs once. */
export type OwnHeaders = readonly (readonly [name: string, value: string])[]

export interface Call {
  readonly method: string
  readonly url: string
  /**
   * The token that the call needs: an access token goes into `Authorization: Bearer`, a refresh token into the body.
   */
  readonly token: 'accessToken' | 'refreshToken' | null
  readonly body: Body | null
  readonly headers: OwnHeaders
  /** The operation, for GraphQL clients; null for REST. */
  readonly graphql: { readonly operation: Operation; readonly variables: { readonly [name: string]: Body } } | null
}

/** Who signs in, and where. */
export interface SignIn {
  /** Origin and base path of the gateway. */
  readonly url: string
  readonly email: string
}

export interface RestRequest {
  readonly route: ExplorerRoute
  /** Value of the query parameter or of the body field. */
  readonly value: string
  readonly headers?: OwnHeaders
}

export function restPath({ route, value }: RestRequest): string {
  return route.parameter === null ? route.path : `${route.path}?${route.parameter}=${encodeURIComponent(value)}`
}

/** `url` is the origin followed by the base path. */
export function restCall(request: RestRequest, url: string): Call {
  const { route, value, headers = [] } = request
  const token = route.field === null ? 'accessToken' : route.field === 'refreshToken' ? 'refreshToken' : null
  const body = route.field === null ? null : { [route.field]: route.field === 'refreshToken' ? REFRESH_TOKEN : value }
  return { method: route.method, url: url + restPath(request), body, graphql: null, ...tokenAndHeaders(token, headers) }
}

interface GraphqlParts {
  readonly headers?: OwnHeaders
  /** The operation to run in a document with several; without it, the first one. */
  readonly operationName?: string | null
}

export function graphqlCall(
  query: string,
  variables: { readonly [name: string]: Body },
  url: string,
  { headers = [], operationName = null }: GraphqlParts = {},
): Call {
  const operation = operationIn(query, operationName)
  const token = JSON.stringify(variables).includes(REFRESH_TOKEN)
    ? 'refreshToken'
    : operation.isLogin
      ? null
      : 'accessToken'
  const body = {
    query,
    ...(Object.keys(variables).length === 0 ? {} : { variables }),
    ...(operation.isOneOfMany ? { operationName: operation.name } : {}),
  }
  return {
    method: 'POST',
    url: `${url}/graphql`,
    body,
    graphql: { operation, variables },
    ...tokenAndHeaders(token, headers),
  }
}

/**
 * Headers besides the access token: the content type of the body, which the person's own may replace, and their own.
 */
export function headersOf({ body, headers }: Call): OwnHeaders {
  const isTyped = headers.some(([name]) => name.toLowerCase() === 'content-type')
  return body === null || isTyped ? headers : [['Content-Type', 'application/json'], ...headers]
}

/**
 * The person's own `Authorization` header replaces the access token. If it contains a token of this gateway, it is
 * dropped, because the snippet writes that header anyway.
 */
function tokenAndHeaders(token: Call['token'], own: OwnHeaders): Pick<Call, 'token' | 'headers'> {
  const authorization = own.find(isAuthorization)
  if (!authorization) return { token, headers: own.map(cut) }
  const [, value] = authorization
  const others = own.filter((header) => !isAuthorization(header)).map(cut)
  if (withoutTokens(value) !== value) return { token, headers: others }
  return { token: token === 'accessToken' ? null : token, headers: [authorization, ...others] }
}

function isAuthorization([name]: OwnHeaders[number]): boolean {
  return name.toLowerCase() === 'authorization'
}

/** Truncates tokens, using only characters that a header may contain. */
function cut([name, value]: OwnHeaders[number]): OwnHeaders[number] {
  return [name, withoutTokens(value).replaceAll('…', '...')]
}
