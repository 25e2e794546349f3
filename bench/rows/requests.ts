// Defines the requests that are sent to every server, as the same client would send them.
import type { LoadRequest } from '../load/plan.ts'

/** The Accept header of Apollo Client 4. The GraphQL requests of the benchmark use it for every server. */
export const APOLLO_ACCEPT = 'application/graphql-response+json,application/json;q=0.9'

const LIST = '{ me { projects { documentId ref name description framework tags createdAt updatedAt } } }'

export const PROJECTS: LoadRequest = {
  method: 'GET',
  path: '/projects',
  headers: { authorization: 'Bearer {{accessToken}}' },
}
export const PROJECT_LIST = graphql(LIST)
export const PROJECT_LIST_BY_GET: LoadRequest = {
  method: 'GET',
  path: `/graphql?${new URLSearchParams({ query: LIST })}`,
  headers: { authorization: 'Bearer {{accessToken}}', accept: APOLLO_ACCEPT },
}
/** The same query with a field that fails, which is an ordinary outcome. */
export const PROJECT_LIST_FAILING = graphql(LIST.replace(/ \} \}$/, ' none: latestExport(ref: "none") { digest } } }'))

export const NESTED_LIST = graphql(
  '{ me { projects { latestExport { createdAt } } templates { documentId name } uiLibraries { documentId name } } }',
)

export function graphql(query: string, accept: string = APOLLO_ACCEPT): LoadRequest {
  return {
    method: 'POST',
    path: '/graphql',
    headers: { authorization: 'Bearer {{accessToken}}', 'content-type': 'application/json', accept },
    body: JSON.stringify({ query }),
  }
}

export function accepting(request: LoadRequest, headers: Readonly<Record<string, string>>): LoadRequest {
  return { ...request, headers: { ...request.headers, ...headers } }
}
