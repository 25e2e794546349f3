// Reads and writes the state of the Rosetta page in its address. The route and the value are in the query string. The
// GraphQL query and its variables may be long, so they are in the fragment, which no server receives, refuses or logs.
// Tokens are truncated.
import type { ExplorerRoute } from '../../pages/explorer-config.ts'
import { withoutTokens } from '../answer/reading.ts'
import { REFRESH_TOKEN } from '../snippets/call.ts'
import type { RowRequest } from './requests.ts'

export interface RosettaState {
  readonly route: ExplorerRoute
  /** The query parameter, or the email of a login; null until the person enters one. */
  readonly value: string | null
  readonly query: string
  /** JSON text; null while the variables follow from the value. */
  readonly variables: string | null
}

export function readState(
  { search, hash }: Pick<Location, 'search' | 'hash'>,
  routes: readonly ExplorerRoute[],
): RosettaState | null {
  const given = new URLSearchParams(search)
  const written = new URLSearchParams(hash.slice(1))
  const route = routes.find((row) => routeName(row) === given.get('route')) ?? routes[0]
  if (!route) return null
  const value = route.parameter === null ? null : given.get(route.parameter)
  // Links made before 0.4.0 have both in the query string.
  const [query, variables] = ['query', 'variables'].map((name) => written.get(name) ?? given.get(name))
  return { route, value, query: query ?? indented(route.twin), variables: variables ?? null }
}

export function writeState({ route, value, query, variables }: RosettaState): string {
  const given = new URLSearchParams({ route: routeName(route) })
  const written = new URLSearchParams()
  if (route.parameter !== null && value !== null) given.set(route.parameter, withoutTokens(value))
  if (query !== indented(route.twin)) written.set('query', withoutTokens(query))
  if (variables !== null) written.set('variables', withoutTokens(variables))
  return written.size === 0 ? `?${given}` : `?${given}#${written}`
}

/** `firstRef` is the default project reference until the person chooses one. */
export function requestOf(state: RosettaState, email: string, firstRef: string): RowRequest {
  const { route, query } = state
  const usual = route.field === 'email' ? email : route.field === null ? firstRef : REFRESH_TOKEN
  const value = route.field === 'refreshToken' ? REFRESH_TOKEN : (state.value ?? usual)
  const name = route.parameter ?? route.field
  const variables = state.variables ?? (name === null ? '' : JSON.stringify({ [name]: value }))
  return { route, query, value: name === null ? '' : value, variables }
}

/** Reads run as soon as they are shown; calls that change sessions wait for the person. */
export function isRunByItself({ route, query }: RowRequest): boolean {
  return route.field === null && !/\bmutation\b/.test(query)
}

export function routeName({ method, path }: ExplorerRoute): string {
  return `${method} ${path}`
}

/** Formats a one-line operation of the route table on several lines. */
export function indented(twin: string): string {
  let depth = 0
  return twin
    .split(/([{}])/)
    .map((part) => {
      if (part !== '{' && part !== '}') return part.trim()
      depth += part === '{' ? 1 : -1
      const line = `\n${'  '.repeat(Math.max(0, depth))}`
      return part === '{' ? ` {${line}` : `${line}}`
    })
    .join('')
    .trim()
}
