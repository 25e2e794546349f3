// Runs urql with its normalising cache against a gateway in which both users' documents have equal ids.
import { Client, fetchExchange, gql, type OperationResult } from '@urql/core'
import { cacheExchange } from '@urql/exchange-graphcache'
import { relayPagination } from '@urql/exchange-graphcache/extras'
import { expect, test } from 'vitest'
import { ANA, BEN } from '../support/workspaces.ts'
import { type ClientGateway, EVERYTHING, type Everything, PAGED, rightFor, shown, startForClients } from './same-ids.ts'

/** Creates a client whose normalising cache knows only `resolvers`; `warnings` collects the cache's messages. */
function createClient({ endpoint, fetch }: ClientGateway, resolvers = {}) {
  const warnings: string[] = []
  const cache = cacheExchange({
    resolvers,
    // The cache logs its misses as `debug`.
    logger: (severity, message) => severity !== 'debug' && warnings.push(message),
  })
  const client = new Client({ url: endpoint, fetch, preferGetMethod: false, exchanges: [cache, fetchExchange] })
  return { client, warnings }
}

function requireData<T>({ data, error }: OperationResult<T>): T {
  if (data === undefined) throw error ?? new Error('nothing was answered')
  return data
}

test('urql shows each object with its own values, for two users in one cache, without warnings', async () => {
  const gateway = await startForClients()
  const { client, warnings } = createClient(gateway)
  const ask = async (requestPolicy: 'network-only' | 'cache-only') =>
    requireData(await client.query<Everything>(EVERYTHING, {}, { requestPolicy }))

  await gateway.signIn(ANA)
  const anas = await ask('network-only')
  expect(shown(anas)).toEqual(rightFor(ANA))
  expect(shown(await ask('cache-only'))).toEqual(rightFor(ANA))

  await gateway.signIn(BEN)
  expect(shown(await ask('network-only'))).toEqual(rightFor(BEN))
  expect(shown(await ask('cache-only'))).toEqual(rightFor(BEN))

  // The first user's id still names the first user's project: no object of the other user has overwritten it.
  await gateway.signIn(ANA)
  const byId = gql<{ node: { name: string } }, { id: string }>`
    query ($id: ID!) { node(id: $id) { id ... on Project { name } } }
  `
  const project = await client.query(byId, { id: anas.me.project.id }, { requestPolicy: 'network-only' })
  expect(requireData(project).node.name).toBe(`project of ${ANA}`)
  expect(warnings).toEqual([])
})

test('two components that each select part of `me` send exactly two requests', async () => {
  const gateway = await startForClients()
  await gateway.signIn(ANA)
  const { client, warnings } = createClient(gateway)
  const parts = ['query Head { me { id email } }', 'query List { me { id projects { id name } } }'].map((text) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const subscription = client.query(text, {}, { requestPolicy: 'cache-and-network' }).subscribe(({ data, stale }) => {
      if (data && !stale) resolve()
    })
    return { promise, subscription }
  })
  await Promise.all(parts.map(({ promise }) => promise))
  await client.query('query Barrier { me { id templates { id } } }', {})
  expect(gateway.sent).toEqual(['Head', 'List', 'Barrier'])
  expect(warnings).toEqual([])
  for (const { subscription } of parts) subscription.unsubscribe()
})

test("urql's own relayPagination pages a connection forwards and backwards", async () => {
  const gateway = await startForClients()
  await gateway.signIn(ANA)
  const { client, warnings } = createClient(gateway, {
    User: { projectsConnection: relayPagination(), templatesConnection: relayPagination() },
  })
  const query = gql<Page, object>`
    query Page($first: Int, $after: String, $last: Int, $before: String) {
      me { id projectsConnection(first: $first, after: $after, last: $last, before: $before) {
        edges { cursor node { id documentId } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
      } }
    }
  `
  const ask = async (variables: object) => requireData(await client.query(query, variables)).me.projectsConnection
  const documentIds = ({ edges }: Connection) => edges.map(({ node }) => node.documentId)

  let forwards = await ask({ first: 2 })
  while (forwards.pageInfo.hasNextPage) forwards = await ask({ first: 2, after: forwards.pageInfo.endCursor })
  // The cache has joined the pages into one list.
  expect(documentIds(await ask({ first: 2 }))).toEqual(['same', ...PAGED])

  const other = createClient(gateway, { User: { projectsConnection: relayPagination() } })
  const askBack = async (variables: object) =>
    requireData(await other.client.query(query, variables)).me.projectsConnection
  let backwards = await askBack({ last: 2 })
  while (backwards.pageInfo.hasPreviousPage) {
    backwards = await askBack({ last: 2, before: backwards.pageInfo.startCursor })
  }
  expect(documentIds(await askBack({ last: 2 }))).toEqual(['same', ...PAGED])
  expect(gateway.sent).toHaveLength(6)
  expect([...warnings, ...other.warnings]).toEqual([])
})

interface Connection {
  readonly edges: readonly { readonly node: { readonly documentId: string } }[]
  readonly pageInfo: {
    readonly hasNextPage: boolean
    readonly hasPreviousPage: boolean
    readonly startCursor: string | null
    readonly endCursor: string | null
  }
}

interface Page {
  readonly me: { readonly projectsConnection: Connection }
}
