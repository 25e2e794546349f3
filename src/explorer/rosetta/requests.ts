// Sends the REST request and the GraphQL request of a route.
import type { ExplorerRoute } from '../../pages/explorer-config.ts'
import { type Answer, ASK_FOR_TIMES, timed } from '../answer/answer.ts'
import type { Session } from '../sign-in/session/session.ts'
import { type Body, type OwnHeaders, REFRESH_TOKEN, type RestRequest, restPath } from '../snippets/call.ts'
import { jsonOrNull } from '../text/json-lines.ts'

export type Side = 'rest' | 'graphql'

export interface RowRequest {
  readonly route: ExplorerRoute
  /**
   * Value of the query parameter or body field; the placeholder `REFRESH_TOKEN` where the route takes a refresh token.
   */
  readonly value: string
  readonly query: string
  /** The GraphQL variables as JSON text. */
  readonly variables: string
}

const JSON_HEADERS = { 'content-type': 'application/json', ...ASK_FOR_TIMES }

/** The answers of a successful logout, over REST and over GraphQL. */
const LOGGED_OUT: readonly string[] = ['{}', '{"data":{"logout":true}}']

/**
 * Runs a call that takes a refresh token with a new session of its own, so that the user stays signed in. Ends that
 * session unless the call has done so: it may have been aborted or refused, and nobody else has the token. With
 * `carriesToken` false, the call was written by hand with another token.
 */
export async function withOwnSession(
  { path }: ExplorerRoute,
  session: Session,
  run: (refreshToken: string) => Promise<Answer>,
  carriesToken = true,
): Promise<Answer> {
  const { refreshToken } = await session.openAnother()
  let isEnded = false
  try {
    const answer = await run(refreshToken)
    isEnded = carriesToken && path === '/logout' && LOGGED_OUT.includes(answer.text)
    return answer
  } finally {
    if (!isEnded) session.endAnother(refreshToken)
  }
}

export function sendSide(side: Side, request: RowRequest, session: Session, signal: AbortSignal): Promise<Answer> {
  const { route, variables } = request
  const send = (token: string | null) => sendWith(token, side, request, session, signal)
  if (route.field !== 'refreshToken') return send(null)
  return withOwnSession(route, session, send, side === 'rest' || variables.includes(REFRESH_TOKEN))
}

async function sendWith(
  token: string | null,
  side: Side,
  request: RowRequest,
  session: Session,
  signal: AbortSignal,
): Promise<Answer> {
  const { route, query } = request
  if (side === 'rest') return sendRest({ route, value: token ?? request.value }, session, signal)
  const variables = token === null ? request.variables : request.variables.replaceAll(REFRESH_TOKEN, token)
  // Throws if they are no JSON object.
  readVariables(variables)
  const body = graphqlBody({ query }, variables.trim() === '' ? '{}' : variables)
  return timed(() => session.send('/graphql', { method: 'POST', headers: JSON_HEADERS, body, signal }))
}

/** Sends one REST request. `value` goes into the query parameter or the body field of the route. */
export function sendRest(request: RestRequest, session: Session, signal: AbortSignal): Promise<Answer> {
  const { route, value, headers = [] } = request
  const init: RequestInit = { headers: withCustomHeaders(ASK_FOR_TIMES, headers), signal }
  if (route.field === null) return timed(() => session.send(restPath({ route, value }), init))
  const body = JSON.stringify({ [route.field]: value })
  const sent = { ...init, method: route.method, headers: withCustomHeaders(JSON_HEADERS, headers), body }
  return timed(() => session.send(route.path, sent))
}

/** Headers that the person wrote replace the page's own. */
function withCustomHeaders(usual: Readonly<Record<string, string>>, own: OwnHeaders): Headers {
  const headers = new Headers(usual)
  for (const [name, value] of own) headers.set(name, value)
  return headers
}

/**
 * The body of a GraphQL request. `variables` is JSON text and is sent as it is: as JavaScript values, 1e400 would become
 * null, and long integers would be rounded.
 */
export function graphqlBody(request: object, variables: string | undefined): string {
  const body = JSON.stringify(request)
  return variables === undefined ? body : `${body.slice(0, -1)},"variables":${variables}}`
}

/** Throws an Error with a readable sentence when the text is not a JSON object. */
export function readVariables(text: string, what = 'variables'): { readonly [name: string]: Body } {
  if (text.trim() === '') return {}
  const value = jsonOrNull(text)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`The ${what} are not a JSON object.`)
  }
  return value as { readonly [name: string]: Body }
}
