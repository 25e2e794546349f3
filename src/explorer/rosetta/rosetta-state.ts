// What a Rosetta address says: the row, its value, the query and its variables. Never a token.
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

export function readState(search: string, routes: readonly ExplorerRoute[]): RosettaState | null {
  const given = new URLSearchParams(search)
  const route = routes.find((row) => routeName(row) === given.get('route')) ?? routes[0]
  if (!route) return null
  const value = route.parameter === null ? null : given.get(route.parameter)
  return { route, value, query: given.get('query') ?? indented(route.twin), variables: given.get('variables') }
}

export function writeState({ route, value, query, variables }: RosettaState): string {
  const written = new URLSearchParams({ route: routeName(route) })
  if (route.parameter !== null && value !== null) written.set(route.parameter, withoutTokens(value))
  if (query !== indented(route.twin)) written.set('query', withoutTokens(query))
  if (variables !== null) written.set('variables', withoutTokens(variables))
  return `?${written}`
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
