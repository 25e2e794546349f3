// Runs Apollo Client with its normalising cache against a gateway in which both users' documents have equal ids.
import { ApolloClient, type FetchPolicy, gql, HttpLink, InMemoryCache } from '@apollo/client'
import { relayStylePagination } from '@apollo/client/utilities'
import { isInterfaceType } from 'graphql'
import { expect, test, vi } from 'vitest'
import { createSchema } from '../../src/graphql/schema.ts'
import { ANA, BEN } from '../support/workspaces.ts'
import { type ClientGateway, EVERYTHING, type Everything, PAGED, rightFor, shown, startForClients } from './same-ids.ts'

const EVERYTHING_QUERY = gql(EVERYTHING)
const NAMES = 'query Names { me { id projectsConnection(first: 2) { nodes { id name } } } }'

/** The default cache: no type has a policy. */
function createClient({ endpoint, fetch }: ClientGateway, cache = new InMemoryCache()) {
  return new ApolloClient({ link: new HttpLink({ uri: endpoint, fetch }), cache })
}

test('Apollo Client shows each object with its own values, for two users in one cache, without settings', async () => {
  const gateway = await startForClients()
  const client = createClient(gateway)
  const ask = async (fetchPolicy: FetchPolicy) =>
    (await client.query<Everything>({ query: EVERYTHING_QUERY, fetchPolicy })).data

  await gateway.signIn(ANA)
  const anas = await ask('network-only')
  expect(anas && shown(anas)).toEqual(rightFor(ANA))
  expect(shown(await requireData(ask('cache-only')))).toEqual(rightFor(ANA))

  await gateway.signIn(BEN)
  expect(shown(await requireData(ask('network-only')))).toEqual(rightFor(BEN))
  expect(shown(await requireData(ask('cache-only')))).toEqual(rightFor(BEN))
  // The first user's project is still in the cache, unchanged.
  const project = client.cache.readFragment<{ name: string }>({
    id: client.cache.identify({ __typename: 'Project', id: anas?.me.project.id ?? '' }) ?? '',
    fragment: gql('fragment Name on Project { name }'),
  })
  expect(project?.name).toBe(`project of ${ANA}`)
})

test('a component on the screen shows the next user after `resetStore`, and not after `clearStore`', async () => {
  const gateway = await startForClients()
  const client = createClient(gateway)
  await gateway.signIn(ANA)
  const watched = client.watchQuery<{ me: { email: string } }>({ query: gql('query Me { me { id email } }') })
  const shown: string[] = []
  const subscription = watched.subscribe(({ data, dataState }) => {
    if (dataState === 'complete') shown.push(data.me.email)
  })
  await vi.waitUntil(() => shown.length === 1)
  await gateway.signIn(BEN)
  await client.clearStore()
  // A request that this caused would be sent before the next one.
  await client.query({ query: gql('query Barrier { __schema { queryType { name } } }') })
  expect([gateway.sent, shown]).toEqual([['Me', 'Barrier'], [ANA]])
  await client.resetStore()
  expect([gateway.sent, shown]).toEqual([
    ['Me', 'Barrier', 'Me'],
    [ANA, BEN],
  ])
  subscription.unsubscribe()
})

test('two components that each select part of `me` send exactly two requests', async () => {
  const gateway = await startForClients()
  await gateway.signIn(ANA)
  const client = createClient(gateway)
  const parts = ['query Head { me { id email } }', 'query List { me { id projects { id name } } }'].map((text) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const subscription = client.watchQuery({ query: gql(text) }).subscribe(({ dataState }) => {
      if (dataState === 'complete') resolve()
    })
    return { promise, subscription }
  })
  await Promise.all(parts.map(({ promise }) => promise))
  // If one of the two repeated its request, the repetition would be sent before this query is answered.
  await client.query({ query: gql('query Barrier { me { id templates { id } } }') })
  expect(gateway.sent).toEqual(['Head', 'List', 'Barrier'])
  for (const { subscription } of parts) subscription.unsubscribe()
})

test('two queries for different fields of a connection evict each other unless the cache merges them', async () => {
  const gateway = await startForClients()
  await gateway.signIn(ANA)
  const queries = ['query Count { me { id projectsConnection(first: 2) { totalCount } } }', NAMES].map((text) =>
    gql(text),
  )
  const sentWith = async (cache?: InMemoryCache) => {
    const client = createClient(gateway, cache)
    for (let round = 0; round < 3; round += 1) for (const query of queries) await client.query({ query })
    return gateway.sent.splice(0)
  }
  // Apollo warns about it too, once.
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  expect(await sentWith()).toEqual(['Count', 'Names', 'Count', 'Names', 'Count', 'Names'])
  expect(warn).toHaveBeenCalledOnce()
  warn.mockRestore()
  const typePolicies = { User: { fields: { projectsConnection: { merge: true } } } }
  expect(await sentWith(new InMemoryCache({ typePolicies }))).toEqual(['Count', 'Names'])
})

test("Apollo's own relayStylePagination pages a connection forwards and backwards", async () => {
  const gateway = await startForClients()
  await gateway.signIn(ANA)
  const typePolicies = { User: { fields: { projectsConnection: relayStylePagination() } } }
  const all = ['same', ...PAGED]
  const ways = [
    {
      query: 'query Page($first: Int, $after: String) { me { id projectsConnection(first: $first, after: $after) {',
      variables: { first: 2 },
      next: ({ endCursor }: PageInfo) => ({ after: endCursor }),
      isMore: ({ hasNextPage }: PageInfo) => hasNextPage,
    },
    {
      query: 'query Page($last: Int, $before: String) { me { id projectsConnection(last: $last, before: $before) {',
      variables: { last: 2 },
      next: ({ startCursor }: PageInfo) => ({ before: startCursor }),
      isMore: ({ hasPreviousPage }: PageInfo) => hasPreviousPage,
    },
  ]
  for (const { query, variables, next, isMore } of ways) {
    const client = createClient(gateway, new InMemoryCache({ typePolicies }))
    const fields =
      'edges { cursor node { id documentId } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }'
    const watched = client.watchQuery<Page>({ query: gql(`${query} ${fields} } } }`), variables })
    let screen: readonly string[] = []
    const subscription = watched.subscribe(({ data, dataState }) => {
      if (dataState === 'complete') screen = data.me.projectsConnection.edges.map(({ node }) => node.documentId)
    })
    await vi.waitUntil(() => screen.length === 2)
    for (
      let info = client.readQuery<Page>({ query: watched.query, variables })?.me.projectsConnection.pageInfo;
      info && isMore(info);
    ) {
      const { data } = await watched.fetchMore({ variables: next(info) })
      info = data?.me.projectsConnection.pageInfo
    }
    await vi.waitUntil(() => screen.length === all.length)
    expect(screen).toEqual(all)
    expect(gateway.sent.splice(0)).toEqual(['Page', 'Page', 'Page'])
    subscription.unsubscribe()
  }
})

test('relayStylePagination joins the `edges` of a connection, and keeps only the last page of its `nodes`', async () => {
  const gateway = await startForClients()
  await gateway.signIn(ANA)
  const typePolicies = { User: { fields: { projectsConnection: relayStylePagination() } } }
  const client = createClient(gateway, new InMemoryCache({ typePolicies }))
  const query = gql(`query Page($after: String) { me { id projectsConnection(first: 2, after: $after) {
    edges { node { id documentId } } nodes { id documentId } pageInfo { endCursor }
  } } }`)
  const { data } = await client.query<BothWays>({ query })
  const after = data?.me.projectsConnection.pageInfo.endCursor
  await client.query({ query, variables: { after }, fetchPolicy: 'network-only' })
  const joined = client.readQuery<BothWays>({ query })?.me.projectsConnection
  expect(joined?.edges.map(({ node }) => node.documentId)).toEqual(['same', ...PAGED.slice(0, 3)])
  expect(joined?.nodes.map(({ documentId }) => documentId)).toEqual(PAGED.slice(1, 3))
})

interface BothWays {
  readonly me: {
    readonly projectsConnection: {
      readonly edges: readonly { readonly node: { readonly documentId: string } }[]
      readonly nodes: readonly { readonly documentId: string }[]
      readonly pageInfo: { readonly endCursor: string }
    }
  }
}

test('the fields of a fragment on `Node` are missing unless the cache knows its types', async () => {
  const gateway = await startForClients()
  await gateway.signIn(ANA)
  const query = gql('query Named { me { ...Identified email } } fragment Identified on Node { id }')
  const ask = async (cache?: InMemoryCache) => (await createClient(gateway, cache).query({ query })).data
  expect(await ask()).toEqual({ me: { __typename: 'User', email: ANA } })

  const possibleTypes = { Node: ['User', 'Session', 'Project', 'Template', 'UiLibrary', 'Export', 'ExportElement'] }
  const cache = new InMemoryCache({ possibleTypes })
  expect(await ask(cache)).toEqual({ me: { __typename: 'User', id: expect.any(String), email: ANA } })
  const schema = createSchema()
  const node = schema.getType('Node')
  const types = isInterfaceType(node) ? schema.getPossibleTypes(node).map(({ name }) => name) : []
  expect(possibleTypes.Node.toSorted()).toEqual(types.toSorted())
})

interface PageInfo {
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean
  readonly startCursor: string | null
  readonly endCursor: string | null
}

interface Page {
  readonly me: {
    readonly projectsConnection: {
      readonly edges: readonly { readonly node: { readonly documentId: string } }[]
      readonly pageInfo: PageInfo
    }
  }
}

async function requireData<T>(data: Promise<T | undefined>): Promise<T> {
  const found = await data
  if (found === undefined) throw new Error('nothing was answered')
  return found
}
