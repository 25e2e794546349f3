// Writes a GraphQL operation for Apollo Client and for urql.
import type { Call, SignIn } from './call.ts'
import { headersLiteral, literal, quoted, tokenLines } from './javascript.ts'

export function apolloClient({ url, token, headers: own, graphql }: Call, signIn: SignIn | null): string {
  if (!graphql) return ''
  const headers = headersLiteral(token, own)
  const { operation, variables } = graphql
  const [act, name] = operation.isMutation ? ['mutate', 'mutation'] : ['query', 'query']
  return `import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client'

${tokenLines(token, signIn)}const client = new ApolloClient({
  link: new HttpLink({ uri: ${quoted(url)}${headers === null ? '' : `, headers: ${headers}`} }),
  cache: new InMemoryCache(),
})
const { data } = await client.${act}({
  ${name}: gql\`${templated(operation.text)}\`,
  variables: ${literal(variables)},
})
console.log(JSON.stringify(data))
`
}

export function urql({ url, token, headers: own, graphql }: Call, signIn: SignIn | null): string {
  if (!graphql) return ''
  const { operation, variables } = graphql
  const act = operation.isMutation ? 'mutation' : 'query'
  const headers = headersLiteral(token, own)
  const options = headers === null ? '' : `\n  fetchOptions: { headers: ${headers} },`
  return `import { cacheExchange, Client, fetchExchange, gql } from '@urql/core'

${tokenLines(token, signIn)}const client = new Client({
  url: ${quoted(url)},${options}
  exchanges: [cacheExchange, fetchExchange],
  preferGetMethod: false,
})
const { data, error } = await client.${act}(gql\`${templated(operation.text)}\`, ${literal(variables)})
console.log(error ?? JSON.stringify(data))
`
}

function templated(query: string): string {
  return query.replace(/[\\`]|\$\{/g, '\\$&')
}
