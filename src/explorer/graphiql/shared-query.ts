// Encodes a query in the fragment of an address: browsers do not send fragments to servers. Tokens are truncated.
import { withoutTokens } from '../answer/reading.ts'

export interface SharedQuery {
  readonly query: string
  readonly variables: string
  /** The operation to run if the document has several; null if it has one, or if none was chosen. */
  readonly operationName: string | null
}

export function linkTo(url: string, { query, variables, operationName }: SharedQuery): string {
  const written = new URLSearchParams({ query: withoutTokens(query) })
  if (variables.trim() !== '') written.set('variables', withoutTokens(variables))
  if (operationName !== null) written.set('operationName', withoutTokens(operationName))
  return `${url}#${written}`
}

/**
 * Returns null when the address contains no query. Line ends are normalized and tokens truncated, exactly as the stored
 * tabs have them; otherwise the next visit would not recognize the query.
 */
export function readShared(hash: string): SharedQuery | null {
  const given = new URLSearchParams(hash.replace(/^#/, '').replace(/%0D(?:%0A)?/gi, '%0A'))
  const query = given.get('query')
  if (query === null) return null
  const variables = withoutTokens(given.get('variables') ?? '')
  return { query: withoutTokens(query), variables, operationName: given.get('operationName') }
}

type Written = Pick<SharedQuery, 'query' | 'variables'>

/** Compares a tab with a shared query. A tab may lack its query or its variables. */
export function isSameQuery(tab: Partial<Record<keyof Written, string | null>>, shared: Written): boolean {
  return (tab.query ?? '') === shared.query && (tab.variables ?? '') === shared.variables
}
