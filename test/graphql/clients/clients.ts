// GraphQL and HTTP clients, set up as their documentation shows, each without a shared cache.
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client'
import { createGraphiQLFetcher } from '@graphiql/toolkit'
import { Client, cacheExchange, fetchExchange } from '@urql/core'
import axios from 'axios'
import got from 'got'
import { GraphQLClient } from 'graphql-request'
import ky from 'ky'
import { authorization, type Endpoint, QUERY } from './endpoint.ts'
import { askRelay } from './relay.ts'

export interface RealClient {
  readonly name: string
  readonly method: 'POST' | 'GET'
  /** Resolves with `data.me`. */
  readonly ask: (endpoint: Endpoint) => Promise<unknown>
}

async function askApollo(endpoint: Endpoint, useGETForQueries: boolean): Promise<unknown> {
  const link = new HttpLink({ uri: `${endpoint.url}/graphql`, headers: authorization(endpoint), useGETForQueries })
  const client = new ApolloClient({ link, cache: new InMemoryCache() })
  const { data } = await client.query<{ me: unknown }>({ query: gql(QUERY), fetchPolicy: 'no-cache' })
  client.stop()
  return data?.me
}

async function askUrql(endpoint: Endpoint, preferGetMethod: boolean): Promise<unknown> {
  const client = new Client({
    url: `${endpoint.url}/graphql`,
    preferGetMethod,
    fetchOptions: { headers: authorization(endpoint) },
    exchanges: [cacheExchange, fetchExchange],
  })
  const { data, error } = await client.query<{ me: unknown }>(QUERY, {}).toPromise()
  if (error) throw error
  return data?.me
}

async function askGraphqlRequest(endpoint: Endpoint, method: 'POST' | 'GET'): Promise<unknown> {
  const headers = authorization(endpoint)
  const client = new GraphQLClient(`${endpoint.url}/graphql`, { headers, method, jsonSerializer: JSON })
  return (await client.request<{ me: unknown }>(QUERY)).me
}

async function askGraphiql(endpoint: Endpoint): Promise<unknown> {
  const headers = authorization(endpoint)
  const fetcher = createGraphiQLFetcher({
    url: `${endpoint.url}/graphql`,
    fetch,
    headers,
    enableIncrementalDelivery: true,
  })
  const answer: unknown = await fetcher({ query: QUERY, operationName: 'Clients' })
  // GraphiQL does this with whatever a fetcher returns.
  if (typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer) {
    for await (const part of answer as AsyncIterable<{ data: { me: unknown } }>) return part.data.me
  }
  return (answer as { data: { me: unknown } }).data.me
}

export const REAL_CLIENTS: readonly RealClient[] = [
  { name: 'Apollo Client 4', method: 'POST', ask: (endpoint) => askApollo(endpoint, false) },
  { name: 'Apollo Client 4 by GET', method: 'GET', ask: (endpoint) => askApollo(endpoint, true) },
  { name: 'urql', method: 'POST', ask: (endpoint) => askUrql(endpoint, false) },
  { name: 'urql by GET', method: 'GET', ask: (endpoint) => askUrql(endpoint, true) },
  { name: 'graphql-request', method: 'POST', ask: (endpoint) => askGraphqlRequest(endpoint, 'POST') },
  { name: 'graphql-request by GET', method: 'GET', ask: (endpoint) => askGraphqlRequest(endpoint, 'GET') },
  { name: "Relay's network layer", method: 'POST', ask: askRelay },
  { name: "GraphiQL's fetcher", method: 'POST', ask: askGraphiql },
  {
    name: 'axios',
    method: 'POST',
    async ask(endpoint) {
      const headers = authorization(endpoint)
      return (await axios.post(`${endpoint.url}/graphql`, { query: QUERY }, { headers })).data.data.me
    },
  },
  {
    name: 'axios by GET',
    method: 'GET',
    async ask(endpoint) {
      const options = { headers: authorization(endpoint), params: { query: QUERY } }
      return (await axios.get(`${endpoint.url}/graphql`, options)).data.data.me
    },
  },
  {
    name: 'got',
    method: 'POST',
    async ask(endpoint) {
      const options = { headers: authorization(endpoint), json: { query: QUERY } }
      return (await got.post(`${endpoint.url}/graphql`, options).json<{ data: { me: unknown } }>()).data.me
    },
  },
  {
    name: 'ky by GET',
    method: 'GET',
    async ask(endpoint) {
      const options = { headers: authorization(endpoint), searchParams: { query: QUERY } }
      return (await ky.get(`${endpoint.url}/graphql`, options).json<{ data: { me: unknown } }>()).data.me
    },
  },
]
