// Runs relay-runtime against a gateway in which both users' documents have equal ids.
import {
  Environment,
  fetchQuery,
  getSingularSelector,
  Network,
  RecordSource,
  Store,
  type Variables,
} from 'relay-runtime'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { ANA, BEN } from '../support/workspaces.ts'
import { type CompiledApp, compileApp, NODE_TYPES, type NodeType, refetchQuery } from './relay-source.ts'
import { type ClientGateway, ELEMENTS, type Everything, PAGED, rightFor, shown, startForClients } from './same-ids.ts'

let app: CompiledApp

beforeAll(() => {
  app = compileApp()
  return () => app[Symbol.dispose]()
})

function createEnvironment({ endpoint, fetch }: ClientGateway): Environment {
  const network = Network.create(async ({ name, text }, variables) => {
    const body = JSON.stringify({ operationName: name, query: text, variables })
    const response = await fetch(endpoint, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    return response.json()
  })
  return new Environment({ network, store: new Store(new RecordSource()) })
}

async function ask(environment: Environment, operation: string, variables: Variables = {}): Promise<unknown> {
  const policy = { fetchPolicy: 'network-only' } as const
  return fetchQuery(environment, app.operation(operation), variables, policy).toPromise()
}

/** Returns the data that a component with this fragment shows for the object that spreads it. */
function readFragment(environment: Environment, fragment: string, parent: unknown): unknown {
  const selector = getSingularSelector(app.fragment(fragment), parent)
  if (selector?.kind !== 'SingularReaderSelector') throw new Error(`${fragment} is not spread there`)
  return environment.lookup(selector).data
}

test('Relay shows each object with its own values, for two users in one store, without warnings', async () => {
  const warned = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => warned.mockRestore())
  const gateway = await startForClients()
  const environment = createEnvironment(gateway)
  await gateway.signIn(ANA)
  const anas = (await ask(environment, 'appEverythingQuery')) as Everything
  expect(shown(anas)).toEqual(rightFor(ANA))
  await gateway.signIn(BEN)
  const bens = (await ask(environment, 'appEverythingQuery')) as Everything
  expect(shown(bens)).toEqual(rightFor(BEN))
  const source = environment.getStore().getSource()
  expect(source.get(anas.me.project.id)).toMatchObject({ name: `project of ${ANA}` })
  expect(source.get(bens.me.project.id)).toMatchObject({ name: `project of ${BEN}` })
  expect(warned.mock.calls).toEqual([])
})

test('Relay refetches every type of node by its id, with the queries generated from @refetchable', async () => {
  const gateway = await startForClients()
  const environment = createEnvironment(gateway)
  await gateway.signIn(ANA)
  const { me } = (await ask(environment, 'appEverythingQuery')) as Everything
  const { sessions } = ((await ask(environment, 'appSessionsQuery')) as { me: { sessions: { id: string }[] } }).me
  const [newest, oldest] = me.project.exports
  const ids: Readonly<Record<NodeType, string | undefined>> = {
    User: me.id,
    Project: me.project.id,
    Template: me.templates[0]?.id,
    UiLibrary: me.uiLibraries[0]?.id,
    Export: oldest?.id,
    ExportElement: newest?.elements[1]?.id,
    Session: sessions[0]?.id,
  }
  const shownAgain: Record<string, unknown> = {}
  for (const type of NODE_TYPES) {
    const fresh = createEnvironment(gateway)
    const { node } = (await ask(fresh, refetchQuery(type), { id: ids[type] })) as { node: unknown }
    shownAgain[type] = readFragment(fresh, `app${type}`, node)
  }
  expect(shownAgain).toMatchObject({
    User: { email: ANA },
    Project: { name: `project of ${ANA}` },
    Template: { name: `template of ${ANA}` },
    UiLibrary: { name: `library of ${ANA}` },
    Export: { createdAt: '2026-01-01T00:00:00Z', elements: ELEMENTS.map((id) => ({ content: `old ${id} of ${ANA}` })) },
    ExportElement: { content: `new a of ${ANA}` },
    Session: { current: true },
  })
})

interface Connection<T> {
  readonly edges: readonly { readonly node: T }[]
  readonly pageInfo: {
    readonly hasNextPage: boolean
    readonly hasPreviousPage: boolean
    readonly startCursor: string | null
    readonly endCursor: string | null
  }
}

test.each([
  ['forwards', 'appFirstProjectsQuery'],
  ['backwards', 'appLastProjectsQuery'],
])('Relay pages a connection of a refetched user %s, as usePaginationFragment does', async (way, operation) => {
  const gateway = await startForClients()
  const environment = createEnvironment(gateway)
  await gateway.signIn(ANA)
  const { me } = (await ask(environment, operation)) as { me: { id: string } }
  const connection = () => {
    const data = readFragment(environment, 'appProjects', me)
    return (data as { projectsConnection: Connection<{ documentId: string }> }).projectsConnection
  }
  const more = () => {
    const { hasNextPage, hasPreviousPage } = connection().pageInfo
    return way === 'forwards' ? hasNextPage : hasPreviousPage
  }
  while (more()) {
    const { endCursor, startCursor } = connection().pageInfo
    const page = way === 'forwards' ? { first: 2, after: endCursor } : { last: 2, before: startCursor }
    await ask(environment, 'appProjectsPageQuery', { id: me.id, ...page })
  }
  expect(connection().edges.map(({ node }) => node.documentId)).toEqual(['same', ...PAGED])
  expect(gateway.sent).toEqual([operation, 'appProjectsPageQuery', 'appProjectsPageQuery'])
})

test('Relay pages the elements of an older export, which only its id can address', async () => {
  const gateway = await startForClients()
  const environment = createEnvironment(gateway)
  await gateway.signIn(ANA)
  const { me } = (await ask(environment, 'appFirstElementsQuery')) as { me: Everything['me'] }
  const oldest = me.project.exports[1]
  const connection = () => {
    const data = readFragment(environment, 'appElements', oldest)
    return (data as { elementsConnection: Connection<{ content: string }> }).elementsConnection
  }
  while (connection().pageInfo.hasNextPage) {
    const after = connection().pageInfo.endCursor
    await ask(environment, 'appElementsPageQuery', { id: oldest?.id, first: 2, after })
  }
  expect(connection().edges.map(({ node }) => node.content)).toEqual(ELEMENTS.map((id) => `old ${id} of ${ANA}`))
})
