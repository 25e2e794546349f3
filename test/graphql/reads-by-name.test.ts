// Documents and elements that a request names: in order, a few at a time, and few more than the request may hold.
import { expect, test } from 'vitest'
import { createNodeIds } from '../../src/resolvers/identity/node-id.ts'
import type { Store, StoredExport } from '../../src/store/contract.ts'
import { startGateway, type TestGatewayOptions } from '../support/gateway.ts'
import { ANA, documentLine, exportLine } from '../support/workspaces.ts'

const COUNT = 100
const TEXT_LENGTH = 10_000
const refs = Array.from({ length: COUNT }, (_, index) => `p${index}`)
const textOf = (ref: string) => JSON.stringify({ id: ref, ref, content: 'x'.repeat(TEXT_LENGTH) })

/** What was read by name, in UTF-16 units: the total, and the most in one turn of the event loop. */
interface Measured {
  length: number
  mostInOneTurn: number
}

function measured(store: Store, read: Measured): Store {
  let inThisTurn = 0
  const count = <T extends { readonly text: string }>(items: readonly (T | null)[]) => {
    const length = items.reduce((sum, item) => sum + (item?.text.length ?? 0), 0)
    if (inThisTurn === 0) {
      setImmediate(() => {
        inThisTurn = 0
      })
    }
    inThisTurn += length
    read.length += length
    read.mostInOneTurn = Math.max(read.mostInOneTurn, inThisTurn)
    return items
  }
  return {
    ...store,
    documentsById: async (keys) => count(await store.documentsById(keys)),
    projectsByRef: async (keys) => count(await store.projectsByRef(keys)),
    elementsOf: async (pages) =>
      (await store.elementsOf(pages)).map((page) => count(page).flatMap((item) => item ?? [])),
  }
}

async function start(options: TestGatewayOptions = {}) {
  const read: Measured = { length: 0, mostInOneTurn: 0 }
  const gateway = await startGateway({ wrapStore: (store) => measured(store, read), cacheBytes: 0, ...options })
  await gateway.load(
    refs.map((ref) => documentLine('project', ANA, textOf(ref))).join('') +
      exportLine(ANA, { r: 'p0', createdAt: '2026-01-01T00:00:00Z', elements: refs.map(textOf) }),
  )
  const { accessToken } = await gateway.login(ANA)
  const { digest } = (await gateway.graphql('{ me { latestExport(ref: "p0") { digest } } }', { accessToken })).json()
    .data.me.latestExport
  const { document, element } = createNodeIds(ANA)
  const snapshot = { ref: 'p0', instant: '2026-01-01T00:00:00.000000000Z', digest } as StoredExport
  const elementIds = refs.map((_, index) => element(snapshot, { position: index + 1 }))
  const ids = refs.map((id) => document({ kind: 'project', id }))
  read.length = 0
  read.mostInOneTurn = 0
  return { gateway, accessToken, read, ids, elementIds }
}

const NODES =
  'query($ids: [ID!]!) { nodes(ids: $ids) { ... on Project { documentId } ... on ExportElement { documentId } } }'
const BY_REF = `{ me { ${refs.map((ref) => `${ref}: project(ref: "${ref}") { documentId }`).join(' ')} } }`

test('named documents and elements come in the requested order, with null for one that does not exist', async () => {
  const { gateway, accessToken, ids, elementIds } = await start()
  const nodesOf = async (asked: readonly string[]) => {
    const answer = await gateway.graphql(NODES, { accessToken, variables: { ids: asked } })
    return answer.json().data.nodes.map((node: { documentId: string } | null) => node?.documentId ?? null)
  }
  const backwards = ids.toReversed()
  expect(await nodesOf(backwards.with(20, 'none'))).toEqual(refs.toReversed().with(20, null as never))
  expect(await nodesOf(elementIds)).toEqual(refs)
  const { me } = (await gateway.graphql(BY_REF, { accessToken })).json().data
  expect(me).toEqual(Object.fromEntries(refs.map((ref) => [ref, { documentId: ref }])))
})

test('a hundred documents are read over several turns', async () => {
  const { gateway, accessToken, read, ids } = await start()
  const answer = await gateway.graphql(NODES, { accessToken, variables: { ids } })
  expect(answer.json().data.nodes).toHaveLength(COUNT)
  expect(read.length).toBeGreaterThan(COUNT * TEXT_LENGTH)
  expect(read.mostInOneTurn).toBeLessThan((COUNT / 2) * TEXT_LENGTH)
})

test('a request that may hold ten documents is refused before it has read twenty of a hundred', async () => {
  const { gateway, accessToken, read, ids, elementIds } = await start({
    graphqlValues: { graphqlMaxHeldBytes: String(10 * TEXT_LENGTH) },
  })
  for (const [query, asked] of [
    [NODES, ids],
    [NODES, elementIds],
    [BY_REF, []],
  ] as const) {
    read.length = 0
    const variables = query === NODES ? { ids: asked } : {}
    const answer = await gateway.graphql(query, { accessToken, variables })
    expect(answer.json().errors[0].extensions.code).toBe('RESPONSE_TOO_LARGE')
    expect(read.length).toBeLessThan(20 * TEXT_LENGTH)
    expect(read.length).toBeGreaterThan(10 * TEXT_LENGTH)
  }
})

test('a request that may hold two documents is refused before it has read eight of a page of sixteen', async () => {
  const { gateway, accessToken, read, ids, elementIds } = await start({
    graphqlValues: { graphqlMaxHeldBytes: String(2 * TEXT_LENGTH) },
  })
  for (const asked of [ids, elementIds]) {
    read.length = 0
    const answer = await gateway.graphql(NODES, { accessToken, variables: { ids: asked.slice(0, 16) } })
    expect(answer.json().errors[0].extensions.code).toBe('RESPONSE_TOO_LARGE')
    expect(read.length).toBeLessThan(8 * TEXT_LENGTH)
    expect(read.length).toBeGreaterThan(2 * TEXT_LENGTH)
  }
})

test('after long documents, the next ones are read one at a time', async () => {
  const asked: number[] = []
  const gateway = await startGateway({
    cacheBytes: 0,
    wrapStore: (store) => ({
      ...store,
      documentsById(keys) {
        asked.push(keys.length)
        return store.documentsById(keys)
      },
    }),
  })
  const names = refs.slice(0, 8)
  const content = 'x'.repeat(600_000)
  await gateway.load(names.map((id) => documentLine('project', ANA, JSON.stringify({ id, content }))).join(''))
  const { accessToken } = await gateway.login(ANA)
  const { document } = createNodeIds(ANA)
  const ids = names.map((id) => document({ kind: 'project', id }))
  const answer = await gateway.graphql(NODES, { accessToken, variables: { ids } })
  expect(answer.json().data.nodes.map((node: { documentId: string }) => node.documentId)).toEqual(names)
  expect(asked.slice(1)).toEqual([1, 1, 1, 1])
})

test('a text that is longer than any name is looked up nowhere', async () => {
  const lookedUp: string[] = []
  const gateway = await startGateway({
    cacheBytes: 0,
    wrapStore: (store) => ({
      ...store,
      documentsById(keys) {
        lookedUp.push(...keys.map(({ id }) => id))
        return store.documentsById(keys)
      },
      projectsByRef(keys) {
        lookedUp.push(...keys.map(({ ref }) => ref))
        return store.projectsByRef(keys)
      },
      latestExports(questions) {
        lookedUp.push(...questions.map(({ ref }) => ref))
        return store.latestExports(questions)
      },
    }),
  })
  const longest = '語'.repeat(1_024)
  await gateway.load(documentLine('project', ANA, JSON.stringify({ id: longest, ref: longest })))
  const { accessToken } = await gateway.login(ANA)
  const { document } = createNodeIds(ANA)
  const query =
    'query($ref: String!, $id: ID!) { node(id: $id) { id } me { project(ref: $ref) { ref } latestExport(ref: $ref) { ref } } }'
  const ask = async (name: string) => {
    const variables = { ref: name, id: document({ kind: 'project', id: name }) }
    const { data, errors } = (await gateway.graphql(query, { accessToken, variables })).json()
    return { data, code: errors[0].extensions.code }
  }

  const found = await ask(longest)
  expect(found.data.me.project.ref).toBe(longest)
  expect(found.data.node.id).toBe(document({ kind: 'project', id: longest }))
  expect(found.code).toBe('NO_EXPORT')
  expect(lookedUp.splice(0)).toContain(longest)
  expect(await ask(longest.repeat(2))).toEqual({
    data: { node: null, me: { project: null, latestExport: null } },
    code: 'NO_PROJECT',
  })
  expect(lookedUp).toEqual([])
})
