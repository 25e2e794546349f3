// A query in an address, behind the `#`: it is never sent to a server, and never holds a token.
import { withoutTokens } from '../answer/reading.ts'

export interface SharedQuery {
  readonly query: string
  readonly variables: string
  /** Of several operations the one to run; null where there is one, or where nobody has chosen. */
  readonly operationName: string | null
}

export function linkTo(url: string, { query, variables, operationName }: SharedQuery): string {
  const written = new URLSearchParams({ query: withoutTokens(query) })
  if (variables.trim() !== '') written.set('variables', withoutTokens(variables))
  if (operationName !== null) written.set('operationName', withoutTokens(operationName))
  return `${url}#${written}`
}

/** Null when the address names none. With line ends and without tokens, as it is kept: otherwise it would be another one on the next visit. */
export function readShared(hash: string): SharedQuery | null {
  const given = new URLSearchParams(hash.replace(/^#/, '').replace(/%0D(?:%0A)?/gi, '%0A'))
  const query = given.get('query')
  if (query === null) return null
  const variables = withoutTokens(given.get('variables') ?? '')
  return { query: withoutTokens(query), variables, operationName: given.get('operationName') }
}

type Written = Pick<SharedQuery, 'query' | 'variables'>

/** Of a tab, either may be missing. */
export function isSameQuery(tab: Partial<Record<keyof Written, string | null>>, shared: Written): boolean {
  return (tab.query ?? '') === shared.query && (tab.variables ?? '') === shared.variables
}
