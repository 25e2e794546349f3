// A request as the code generator sees it: what is sent where, and which token it needs.
import type { ExplorerRoute } from '../../pages/explorer-config.ts'

/** A value of JSON in which `REFRESH_TOKEN` stands for the token that the snippet has. */
export type Body = string | number | boolean | null | readonly Body[] | { readonly [name: string]: Body }

/** No snippet ever holds a token: this is where the one goes that it has signed in for. */
export const REFRESH_TOKEN = '{the refresh token}'

export interface Call {
  readonly method: string
  readonly url: string
  /** Sent as `Authorization: Bearer`, or inside the body. */
  readonly token: 'accessToken' | 'refreshToken' | null
  readonly body: Body | null
  /** For GraphQL clients. */
  readonly graphql: { readonly query: string; readonly variables: { readonly [name: string]: Body } } | null
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
}

export function restPath({ route, value }: RestRequest): string {
  return route.parameter === null ? route.path : `${route.path}?${route.parameter}=${encodeURIComponent(value)}`
}

/** `url` is the origin with the base path. */
export function restCall(request: RestRequest, url: string): Call {
  const { route, value } = request
  const token = route.field === null ? 'accessToken' : route.field === 'refreshToken' ? 'refreshToken' : null
  const body = route.field === null ? null : { [route.field]: route.field === 'refreshToken' ? REFRESH_TOKEN : value }
  return { method: route.method, url: url + restPath(request), token, body, graphql: null }
}

export function graphqlCall(query: string, variables: { readonly [name: string]: Body }, url: string): Call {
  const token = JSON.stringify(variables).includes(REFRESH_TOKEN)
    ? 'refreshToken'
    : /^\s*mutation\b[^{]*\{\s*login\b/.test(query)
      ? null
      : 'accessToken'
  const body = Object.keys(variables).length === 0 ? { query } : { query, variables }
  return { method: 'POST', url: `${url}/graphql`, token, body, graphql: { query, variables } }
}
