// A GraphQL operation for Apollo Client and for urql.
import type { Call, SignIn } from './call.ts'
import { headersLiteral, literal, quoted, tokenLines } from './javascript.ts'

export function apolloClient({ url, token, headers: own, graphql }: Call, signIn: SignIn | null): string {
  if (!graphql) return ''
  const headers = headersLiteral(token, own)
  const [act, name] = isMutation(graphql.query) ? ['mutate', 'mutation'] : ['query', 'query']
  return `import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client'

${tokenLines(token, signIn)}const client = new ApolloClient({
  link: new HttpLink({ uri: ${quoted(url)}${headers === null ? '' : `, headers: ${headers}`} }),
  cache: new InMemoryCache(),
})
const { data } = await client.${act}({
  ${name}: gql\`${templated(graphql.query)}\`,
  variables: ${literal(graphql.variables)},
})
console.log(JSON.stringify(data))
`
}

export function urql({ url, token, headers: own, graphql }: Call, signIn: SignIn | null): string {
  if (!graphql) return ''
  const act = isMutation(graphql.query) ? 'mutation' : 'query'
  const headers = headersLiteral(token, own)
  const options = headers === null ? '' : `\n  fetchOptions: { headers: ${headers} },`
  return `import { cacheExchange, Client, fetchExchange, gql } from '@urql/core'

${tokenLines(token, signIn)}const client = new Client({
  url: ${quoted(url)},${options}
  exchanges: [cacheExchange, fetchExchange],
  preferGetMethod: false,
})
const { data, error } = await client.${act}(gql\`${templated(graphql.query)}\`, ${literal(graphql.variables)})
console.log(error ?? JSON.stringify(data))
`
}

function isMutation(query: string): boolean {
  return /^\s*mutation\b/.test(query)
}

function templated(query: string): string {
  return query.replace(/[\\`]|\$\{/g, '\\$&')
}
