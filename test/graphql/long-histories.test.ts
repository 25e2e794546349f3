// Histories of thousands of exports: complete and in order, read over several turns, no longer than a request may hold.
import { expect, test } from 'vitest'
import type { Store } from '../../src/store/contract.ts'
import { startGateway, type TestGatewayOptions } from '../support/gateway.ts'
import { ANA, documentLine, exportLine } from '../support/workspaces.ts'

const REFS = ['p0', 'p1', 'p2']
const COUNT = 700
const createdAt = Array.from({ length: COUNT }, (_, index) => new Date(Date.UTC(2026, 0, 1, 0, index)).toISOString())
const NEWEST_FIRST = createdAt.toReversed()
const WORLD = REFS.map(
  (r) =>
    documentLine('project', ANA, JSON.stringify({ id: r, ref: r })) +
    createdAt.map((at) => exportLine(ANA, { r, createdAt: at, elements: ['1'] })).join(''),
).join('')

/** The exports that were read for lists: the number of reads, the total, and the most in one turn of the event loop. */
interface Measured {
  reads: number
  count: number
  mostInOneTurn: number
}

function measured(store: Store, read: Measured): Store {
  let inThisTurn = 0
  return {
    ...store,
    async exportsOf(pages) {
      const found = await store.exportsOf(pages)
      if (inThisTurn === 0) {
        setImmediate(() => {
          inThisTurn = 0
        })
      }
      const { length } = found.flat()
      read.reads += 1
      inThisTurn += length
      read.count += length
      read.mostInOneTurn = Math.max(read.mostInOneTurn, inThisTurn)
      return found
    },
  }
}

async function start(options: TestGatewayOptions = {}, world = WORLD) {
  const read: Measured = { reads: 0, count: 0, mostInOneTurn: 0 }
  const gateway = await startGateway({ wrapStore: (store) => measured(store, read), cacheBytes: 0, ...options })
  await gateway.load(world)
  const { accessToken } = await gateway.login(ANA)
  Object.assign(read, { reads: 0, count: 0, mostInOneTurn: 0 })
  const ask = async (query: string) => (await gateway.graphql(query, { accessToken })).json()
  return { ask, read }
}

const ASKED = [
  '{ me { projects { exports { createdAt } } } }',
  '{ me { projects { exportsConnection { pageInfo { hasNextPage } } } } }',
]

test('a history is in order, whether it is read whole or from either end', async () => {
  const { ask } = await start()
  const exportsOf = async (field: string) =>
    (await ask(`{ me { project(ref: "p1") { found: ${field} } } }`)).data.me.project.found
  const times = (found: readonly { createdAt: string }[]) => found.map((one) => one.createdAt)
  expect(times(await exportsOf('exports { createdAt }'))).toEqual(NEWEST_FIRST)
  expect(times(await exportsOf('exports(first: 400) { createdAt }'))).toEqual(NEWEST_FIRST.slice(0, 400))
  const [, , third] = await exportsOf('exports(first: 3) { cursor }')
  const after = JSON.stringify(third.cursor)
  expect(times(await exportsOf(`exports(first: 288, after: ${after}) { createdAt }`))).toEqual(
    NEWEST_FIRST.slice(3, 291),
  )
  expect(times(await exportsOf(`exports(after: ${after}) { createdAt }`))).toEqual(NEWEST_FIRST.slice(3))

  const last = await exportsOf(
    'exportsConnection(last: 300) { nodes { createdAt } pageInfo { hasPreviousPage startCursor } }',
  )
  expect(times(last.nodes)).toEqual(NEWEST_FIRST.slice(-300))
  expect(last.pageInfo.hasPreviousPage).toBe(true)
  const before = JSON.stringify(last.pageInfo.startCursor)
  const rest = await exportsOf(
    `exportsConnection(last: 500, before: ${before}) { nodes { createdAt } pageInfo { hasPreviousPage } totalCount }`,
  )
  expect(times(rest.nodes)).toEqual(NEWEST_FIRST.slice(0, -300))
  expect(rest).toMatchObject({ pageInfo: { hasPreviousPage: false }, totalCount: COUNT })
})

test.for(ASKED)('%s needs one read for a page of projects with short histories', async (query) => {
  const refs = Array.from({ length: 50 }, (_, index) => `p${index}`)
  const world = refs.map(
    (r) =>
      documentLine('project', ANA, JSON.stringify({ id: r, ref: r })) +
      exportLine(ANA, { r, createdAt: '2026-01-01T00:00:00Z', elements: ['1'] }),
  )
  const { ask, read } = await start({}, world.join(''))
  expect(await ask(query)).not.toHaveProperty('errors')
  expect([read.reads, read.count]).toEqual([1, refs.length])
})

test.for(ASKED)('%s reads long histories over several turns', async (query) => {
  const { ask, read } = await start()
  expect(await ask(query)).not.toHaveProperty('errors')
  expect(read.count).toBe(REFS.length * COUNT)
  expect(read.mostInOneTurn).toBeLessThan(2 * COUNT)
})

test.for(ASKED)('%s is refused before all exports are read', async (query) => {
  const { ask, read } = await start({ graphqlValues: { graphqlMaxHeldBytes: '65536' } })
  expect((await ask(query)).errors).toMatchObject([{ extensions: { code: 'RESPONSE_TOO_LARGE' } }])
  expect(read.count).toBeLessThan(2 * COUNT)
})
