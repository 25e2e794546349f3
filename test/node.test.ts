// `node` and `nodes` in GraphQL: finding things by their global ids.
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import type { Store } from '../src/store/contract.ts'
import { startGateway, type TestGateway } from './support/gateway.ts'
import { POSTGRES_URL, temporaryDatabase } from './support/postgres.ts'
import { ANA, BEN, documentLine, exportLine } from './support/workspaces.ts'

const DAY = '2026-01-01T00:00:00Z'

/** Two users with equal workspaces, in which most things have the same id. */
const SAME = [ANA, BEN]
  .map((email) =>
    [
      documentLine('project', email, `{"id":"same","ref":"same","name":"Project of ${email}"}`),
      documentLine('project', email, `{"id":"other","ref":"other"}`),
      documentLine('template', email, '{"id":"same","name":"Template"}'),
      documentLine('uiLibrary', email, '{"id":"same","name":"Library"}'),
      exportLine(email, { r: 'same', createdAt: DAY, elements: ['{"id":"same","path":"old"}', '{"id":"same"}', '1'] }),
      exportLine(email, { r: 'same', createdAt: DAY, elements: ['{"id":"same","path":"new"}'] }),
      exportLine(email, { r: 'other', createdAt: DAY, elements: ['{"id":"same","path":"old"}', '{"id":"same"}', '1'] }),
    ].join(''),
  )
  .join('')

const EVERY_ID = `{ me { id
  projects { id exports { id elements { id data } } }
  templates { id } templatesConnection { nodes { id } }
  uiLibraries { id }
} }`

const NODES = `query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id
  ... on User { email } ... on Project { name ref latestExport { digest } } ... on Template { name documentId } ... on UiLibrary { name documentId }
  ... on Export { ref createdAt digest } ... on ExportElement { data path documentId cursor } } }`

async function startSame(options: Parameters<typeof startGateway>[0] = {}) {
  const gateway = await startGateway(options)
  await gateway.load(SAME)
  return { gateway, ...(await idsIn(gateway)) }
}

async function idsIn(gateway: TestGateway) {
  const [ana, ben] = [(await gateway.login(ANA)).accessToken, (await gateway.login(BEN)).accessToken]
  const idsOf = async (accessToken: string) => {
    const { me } = (await gateway.graphql(EVERY_ID, { accessToken })).json().data
    expect(me.templatesConnection.nodes).toEqual(me.templates)
    return [...new Set([...JSON.stringify(me).matchAll(/"id":"([^"]{20,})"/g)].map(([, id = '']) => id))]
  }
  const nodes = async (ids: readonly unknown[], accessToken?: string) =>
    (await gateway.graphql(NODES, { ...(accessToken ? { accessToken } : {}), variables: { ids } })).json()
  return { ana, ben, anas: await idsOf(ana), bens: await idsOf(ben), nodes }
}

test('every thing of every user has its own id, whatever ids the documents contain', async () => {
  const { anas, bens } = await startSame()
  // The user, two projects, a template, a library, three exports, and the elements of each.
  expect(anas).toHaveLength(1 + 2 + 1 + 1 + 3 + 7)
  expect(new Set([...anas, ...bens]).size).toBe(2 * anas.length)
})

test.each(['nodes together', 'each by itself'])('an id finds what it names, %s', async (way) => {
  const { gateway, ana, anas, nodes } = await startSame()
  const together = (await nodes(anas, ana)).data.nodes
  const found =
    way === 'nodes together'
      ? together
      : await Promise.all(
          anas.map(async (id) => {
            const query = NODES.replace('$ids: [ID!]!', '$id: ID!').replace('nodes(ids: $ids)', 'node(id: $id)')
            return (await gateway.graphql(query, { accessToken: ana, variables: { id } })).json().data.node
          }),
        )
  expect(found).toEqual(together)
  expect(found.map(({ id }: { id: string }) => id)).toEqual(anas)
  expect(found.filter((node: { __typename: string }) => node.__typename !== 'ExportElement')).toMatchObject([
    { __typename: 'User', email: ANA },
    {
      __typename: 'Project',
      name: `Project of ${ANA}`,
      ref: 'same',
      latestExport: { digest: expect.any(String) },
    },
    { __typename: 'Export', ref: 'same', createdAt: DAY },
    { __typename: 'Export', ref: 'same', createdAt: DAY },
    { __typename: 'Project', name: null, ref: 'other' },
    { __typename: 'Export', ref: 'other' },
    { __typename: 'Template', name: 'Template', documentId: 'same' },
    { __typename: 'UiLibrary', name: 'Library', documentId: 'same' },
  ])
  const elements = found.filter((node: { __typename: string }) => node.__typename === 'ExportElement')
  expect(elements.map(({ data }: { data: unknown }) => data)).toEqual([
    { id: 'same', path: 'new' },
    ...[0, 1].flatMap(() => [{ id: 'same', path: 'old' }, { id: 'same' }, 1]),
  ])
})

describe('nodes answers null', () => {
  test('for every id of another user', async () => {
    const { ana, ben, anas, bens, nodes } = await startSame()
    for (const [token, ids] of [
      [ana, bens],
      [ben, anas],
    ] as const) {
      const answer = await nodes(ids, token)
      expect(answer).toEqual({ data: { nodes: ids.map(() => null) } })
    }
  })

  test('for a text that is not an id, at its position among the valid ids', async () => {
    const { ana, anas, nodes } = await startSame()
    const [user = ''] = anas
    const bad = ['', 'same', '0', '1', user.slice(1), `${user}=`, 'é', '\u0000', "' or 1=1", 'x'.repeat(10_000)]
    expect((await nodes([...bad, user, 1], ana)).data.nodes).toEqual([
      ...bad.map(() => null),
      expect.objectContaining({ email: ANA }),
      null,
    ])
  })

  test('for what was removed, and for the exports of a removed project', async () => {
    const { gateway, ana, ben, anas, bens, nodes } = await startSame()
    const database = new Database(gateway.databasePath)
    database.exec(`delete from document where id = 'same' and user_id = (select id from user where email = '${ANA}')`)
    database.close()
    const left = (await nodes(anas, ana)).data.nodes.map(
      (node: { __typename: string } | null) => node?.__typename ?? null,
    )
    expect(left.filter((name: string | null) => name !== null)).toEqual([
      'User',
      'Project',
      'Export',
      'ExportElement',
      'ExportElement',
      'ExportElement',
    ])
    expect((await nodes(bens, ben)).data.nodes).not.toContain(null)
  })

  test('for a user without a workspace', async () => {
    const { gateway, anas, nodes } = await startSame()
    const { accessToken } = await gateway.login('nobody@example.com')
    expect(await nodes(anas.slice(0, 2), accessToken)).toEqual({ data: { nodes: [null, null] } })
  })
})

test('node and nodes answer UNAUTHENTICATED without a token, as me does', async () => {
  const { gateway, anas, nodes } = await startSame()
  const stranger = await nodes(anas)
  expect(stranger).toMatchObject({ data: null, errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] })
  const one = (
    await gateway.graphql('query ($id: ID!) { node(id: $id) { id } }', { variables: { id: anas[0] } })
  ).json()
  expect(one).toMatchObject({ data: { node: null }, errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] })
})

test('nodes accepts at most a hundred ids', async () => {
  const { ana, anas, nodes } = await startSame()
  const [user = ''] = anas
  expect((await nodes(Array(100).fill(user), ana)).data.nodes).toHaveLength(100)
  const refused = await nodes(Array(101).fill(user), ana)
  const message = '`ids` may hold at most 100.'
  expect(refused).toMatchObject({ data: null, errors: [{ message, extensions: { code: 'INVALID_ARGUMENT' } }] })
  expect((await nodes([], ana)).data.nodes).toEqual([])
})

test('nodes reads each kind in one batch, or in two for more than four things, and reads a repeated id once', async () => {
  const asked: [string, number][] = []
  const { ana, anas, nodes } = await startSame({ wrapStore: (store) => recording(store, asked) })
  asked.length = 0
  await nodes([...anas, ...anas], ana)
  expect(asked).toEqual([
    ['liveSessions', 1],
    ['documentsById', 4],
    ['exportsByKey', 3],
    ['elementsOf', 4],
    ['elementsOf', 3],
    ['latestExports', 2],
  ])
})

describe('ids stay the same', () => {
  test('when everything is imported again, and when a document is replaced', async () => {
    const { gateway, anas, bens } = await startSame()
    await gateway.load(SAME)
    await gateway.load(documentLine('project', ANA, '{"id":"same","ref":"same","name":"Another name","more":1}'))
    expect(await idsIn(gateway)).toMatchObject({ anas, bens })
  })

  test('in another database, where rows have other numbers and users another order', async () => {
    const { anas, bens } = await startSame()
    const elsewhere = await startGateway()
    await elsewhere.load(documentLine('project', 'zoe@example.com', '{"id":"first"}'))
    await elsewhere.load(
      SAME.split('\n')
        .filter(Boolean)
        .toReversed()
        .map((line) => `${line}\n`)
        .join(''),
    )
    const there = await idsIn(elsewhere)
    expect([there.anas.toSorted(), there.bens.toSorted()]).toEqual([anas.toSorted(), bens.toSorted()])
  })

  test.skipIf(POSTGRES_URL === null)('on PostgreSQL, and are found there', async () => {
    const { anas, bens } = await startSame()
    const postgres = await startSame({ databaseUrl: await temporaryDatabase() })
    expect(postgres).toMatchObject({ anas, bens })
    const { nodes } = (await postgres.nodes(anas, postgres.ana)).data
    expect(nodes.map(({ id }: { id: string }) => id)).toEqual(anas)
    expect((await postgres.nodes(anas, postgres.ben)).data.nodes).toEqual(anas.map(() => null))
  })
})

test('introspection over HTTP describes JSON and its specification, and lists the types that are nodes', async () => {
  const gateway = await startGateway()
  const answer = await gateway.graphql(`{
    json: __type(name: "JSON") { description specifiedByURL }
    node: __type(name: "Node") { kind description fields { name type { kind ofType { name } } } possibleTypes { name } }
  }`)
  const { json, node } = answer.json().data
  expect(json).toEqual({
    description: expect.stringContaining('exactly as it was stored'),
    specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259',
  })
  expect(node).toMatchObject({
    kind: 'INTERFACE',
    fields: [{ name: 'id', type: { kind: 'NON_NULL', ofType: { name: 'ID' } } }],
  })
  expect(node.possibleTypes.map(({ name }: { name: string }) => name).toSorted()).toEqual(
    ['User', 'Session', 'Project', 'Template', 'UiLibrary', 'Export', 'ExportElement'].toSorted(),
  )
})

/** Records the name of each method that is called, and the number of questions it was asked. */
function recording(store: Store, asked: [string, number][]): Store {
  return new Proxy(store, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver)
      if (typeof value !== 'function' || typeof name !== 'string') return value
      return (...args: unknown[]) => {
        asked.push([name, Array.isArray(args[0]) ? args[0].length : 0])
        return value(...args)
      }
    },
  })
}
