// What a Rosetta address says: the row and its value, and behind the `#` the query and its variables, however long they are: no server
// is sent them, and none refuses or logs them. Never a token.
import type { ExplorerRoute } from '../../pages/explorer-config.ts'
import { withoutTokens } from '../answer/reading.ts'
import { REFRESH_TOKEN } from '../snippets/call.ts'
import type { RowRequest } from './requests.ts'

export interface RosettaState {
  readonly route: ExplorerRoute
  /** Of the query parameter, or the email of a login; null until the person has written one. */
  readonly value: string | null
  readonly query: string
  /** JSON; null while they follow from the value. */
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
  // Links of before 0.4.0 have them before the `#`.
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

/** `firstRef` is what an export is read of until somebody says. */
export function requestOf(state: RosettaState, email: string, firstRef: string): RowRequest {
  const { route, query } = state
  const usual = route.field === 'email' ? email : route.field === null ? firstRef : REFRESH_TOKEN
  const value = route.field === 'refreshToken' ? REFRESH_TOKEN : (state.value ?? usual)
  const name = route.parameter ?? route.field
  const variables = state.variables ?? (name === null ? '' : JSON.stringify({ [name]: value }))
  return { route, query, value: name === null ? '' : value, variables }
}

/** A read runs as soon as it is shown; a call that changes sessions waits for the person. */
export function isRunByItself({ route, query }: RowRequest): boolean {
  return route.field === null && !/\bmutation\b/.test(query)
}

export function routeName({ method, path }: ExplorerRoute): string {
  return `${method} ${path}`
}

/** A one-line operation of the route table over several lines. */
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
