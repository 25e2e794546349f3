// A request as the code generator sees it: what is sent where, and which token it needs.
import type { ExplorerRoute } from '../../pages/explorer-config.ts'
import { withoutTokens } from '../answer/reading.ts'
import { type Operation, operationIn } from './operation.ts'

/** A value of JSON in which `REFRESH_TOKEN` stands for the token that the snippet has. */
export type Body = string | number | boolean | null | readonly Body[] | { readonly [name: string]: Body }

/** No snippet ever holds a token: this is where the one goes that it has signed in for. */
export const REFRESH_TOKEN = '{the refresh token}'

/** Headers that a person wrote, each name once. */
export type OwnHeaders = readonly (readonly [name: string, value: string])[]

export interface Call {
  readonly method: string
  readonly url: string
  /** Sent as `Authorization: Bearer`, or inside the body. */
  readonly token: 'accessToken' | 'refreshToken' | null
  readonly body: Body | null
  readonly headers: OwnHeaders
  /** For GraphQL clients. */
  readonly graphql: { readonly operation: Operation; readonly variables: { readonly [name: string]: Body } } | null
}

/** Who signs in, and where; null for a snippet that finds its token in the environment. */
export interface SignIn {
  /** Origin and base path. */
  readonly url: string
  readonly email: string
}

export interface RestRequest {
  readonly route: ExplorerRoute
  /** Of the parameter or the body's field. */
  readonly value: string
  readonly headers?: OwnHeaders
}

export function restPath({ route, value }: RestRequest): string {
  return route.parameter === null ? route.path : `${route.path}?${route.parameter}=${encodeURIComponent(value)}`
}

/** `url` is the origin with the base path. */
export function restCall(request: RestRequest, url: string): Call {
  const { route, value, headers = [] } = request
  const token = route.field === null ? 'accessToken' : route.field === 'refreshToken' ? 'refreshToken' : null
  const body = route.field === null ? null : { [route.field]: route.field === 'refreshToken' ? REFRESH_TOKEN : value }
  return { method: route.method, url: url + restPath(request), body, graphql: null, ...sampled(token, headers) }
}

interface GraphqlParts {
  readonly headers?: OwnHeaders
  /** Of a document with several operations the one to run; the first without. */
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
  return { method: 'POST', url: `${url}/graphql`, body, graphql: { operation, variables }, ...sampled(token, headers) }
}

/** What goes beside the access token: the type of the body, and the person's own headers, which may stand in for it. */
export function headersOf({ body, headers }: Call): OwnHeaders {
  const isTyped = headers.some(([name]) => name.toLowerCase() === 'content-type')
  return body === null || isTyped ? headers : [['Content-Type', 'application/json'], ...headers]
}

/** An `Authorization` of the person's own replaces the access token; one that holds a token of this gateway is what a snippet writes anyway. */
function sampled(token: Call['token'], own: OwnHeaders): Pick<Call, 'token' | 'headers'> {
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

/** In characters that a header may hold. */
function cut([name, value]: OwnHeaders[number]): OwnHeaders[number] {
  return [name, withoutTokens(value).replaceAll('…', '...')]
}
