// A request in the words of other tools. Nothing here ever holds a token: the snippets sign in themselves.
import type { ExplorerRoute } from '../../pages/explorer-config.ts'

export interface SnippetContext {
  /** Origin and base path. */
  readonly url: string
  readonly email: string
}

export interface RestRequest {
  readonly route: ExplorerRoute
  /** Of the parameter or the body's field; a shell variable for a refresh token. */
  readonly value: string
}

export function restPath({ route, value }: RestRequest): string {
  return route.parameter === null ? route.path : `${route.path}?${route.parameter}=${encodeURIComponent(value)}`
}

export function restCurl(request: RestRequest, context: SnippetContext): string {
  const { route, value } = request
  const address = shellQuoted(context.url + restPath(request))
  if (route.field === 'email')
    return `curl -s ${address} \\\n  ${JSON_HEADER} \\\n  -d ${shellQuoted(JSON.stringify({ email: value }))}`
  const method = route.method === 'GET' || route.method === 'POST' ? '' : `-X ${route.method} `
  if (route.field === 'refreshToken') {
    return `${signInLine(context, 'refreshToken')}\ncurl -s ${method}${address} \\\n  ${JSON_HEADER} \\\n  -d "{\\"refreshToken\\":\\"$TOKEN\\"}"`
  }
  return `${signInLine(context, 'accessToken')}\ncurl -s ${address} \\\n  -H "Authorization: Bearer $TOKEN"`
}

export function graphqlCurl(query: string, variables: object, context: SnippetContext): string {
  const body = Object.keys(variables).length === 0 ? { query } : { query, variables }
  return `${signInLine(context, 'accessToken')}\ncurl -s ${shellQuoted(`${context.url}/graphql`)} \\\n  -H "Authorization: Bearer $TOKEN" \\\n  ${JSON_HEADER} \\\n  -d ${shellQuoted(JSON.stringify(body))}`
}

export function restFetch(request: RestRequest, context: SnippetContext): string {
  const { route, value } = request
  const address = JSON.stringify(context.url + restPath(request))
  if (route.field === null) {
    return `const response = await fetch(${address}, {\n  headers: { Authorization: \`Bearer \${accessToken}\` },\n})\nconst documents = await response.json()\n`
  }
  const body = route.field === 'email' ? `{ email: ${JSON.stringify(value)} }` : '{ refreshToken }'
  return `const response = await fetch(${address}, {\n  method: '${route.method}',\n  headers: { 'Content-Type': 'application/json' },\n  body: JSON.stringify(${body}),\n})\nconst answer = await response.json()\n`
}

const JSON_HEADER = "-H 'Content-Type: application/json'"

function signInLine({ url, email }: SnippetContext, member: 'accessToken' | 'refreshToken'): string {
  const login = `curl -s ${shellQuoted(`${url}/login`)} ${JSON_HEADER} \\\n  -d ${shellQuoted(JSON.stringify({ email }))}`
  return `TOKEN=$(${login} \\\n  | sed 's/.*"${member}":"\\([^"]*\\)".*/\\1/')`
}

function shellQuoted(text: string): string {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
