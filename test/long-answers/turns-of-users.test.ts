// Tests long answers of several users at the same time: whose part is read next, and who has room.
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { createInFlightBytes } from '../../src/http/limits/in-flight-bytes.ts'
import { startGateway, type TestGateway, type Tokens } from '../support/gateway.ts'
import { openSocket, requestText } from '../support/wire.ts'
import { ANA, BEN, documentLine, SMALL_WORLD } from '../support/workspaces.ts'

/** Each document is a part by itself. */
const DOCUMENT_LENGTH = 140_000
const DOCUMENTS = 8
const LISTS = 3
const REQUESTS = 16

function longList(email: string): string {
  const text = 'x'.repeat(DOCUMENT_LENGTH)
  return Array.from({ length: DOCUMENTS }, (_, at) =>
    documentLine('project', email, JSON.stringify({ id: `p${at}`, text })),
  ).join('')
}

async function askForLists(gateway: TestGateway, { accessToken }: Tokens, at: number): Promise<number> {
  const lists = Array.from({ length: LISTS }, (_, list) => `of${at}at${list}: projects { data }`)
  return (await gateway.graphql(`{ me { ${lists.join(' ')} } }`, { accessToken })).status
}

test("the parts of one long list are read between the parts of another user's many lists", async () => {
  /** The user of each part that was read. */
  const parts: number[] = []
  const gateway = await startGateway({
    wrapStore: (store) => ({
      ...store,
      documentsWithin(questions) {
        parts.push(...questions.map(({ userId }) => userId))
        return store.documentsWithin(questions)
      },
    }),
  })
  await gateway.load(longList(ANA) + longList(BEN))
  const [ana, ben] = [await gateway.login(ANA), await gateway.login(BEN)]

  const asked = Array.from({ length: REQUESTS }, (_, at) => askForLists(gateway, ana, at))
  await expect.poll(() => parts.length).toBeGreaterThanOrEqual(REQUESTS * LISTS)
  const [userOfMany] = parts
  expect((await gateway.get('/projects', ben.accessToken)).status).toBe(200)
  expect(await Promise.all(asked)).toEqual(asked.map(() => 200))
  const isOfOne = (userId: number) => userId !== userOfMany
  expect(parts.filter(isOfOne)).toHaveLength(DOCUMENTS)
  const span = parts.slice(parts.findIndex(isOfOne), parts.findLastIndex(isOfOne) + 1)
  // One or a few parts of the other user come in between. In a single queue, it would be all that the other user waits
  // for.
  expect(span.length).toBeLessThan(2 * REQUESTS * LISTS)
})

test('the many lists of one user leave room for a list of another user', async () => {
  const gateway = await startGateway({ inFlight: createInFlightBytes(16_777_216) })
  await gateway.load(longList(ANA) + longList(BEN))
  const [ana, ben] = [await gateway.login(ANA), await gateway.login(BEN)]
  const asked = Promise.all(Array.from({ length: REQUESTS }, (_, at) => askForLists(gateway, ana, at)))
  const one: number[] = []
  let isOver = false
  void asked.then(() => {
    isOver = true
  })
  while (!isOver) one.push((await gateway.get('/projects', ben.accessToken)).status)
  expect(new Set(one)).toEqual(new Set([200]))
  // Together they asked for more than there is room for.
  expect(await asked).toContain(503)
})

test('beside many requests of one user, the session of another is looked up at once', async () => {
  const batches: (readonly string[])[] = []
  let onFirstLookup = () => {}
  const gateway = await startGateway({
    wrapStore: (store) => ({
      ...store,
      liveSessions(ids, now) {
        if (batches.push(ids) === 1) onFirstLookup()
        return store.liveSessions(ids, now)
      },
    }),
  })
  await gateway.load(SMALL_WORLD)
  const [ana, ben] = [await gateway.login(ANA), await gateway.login(BEN)]
  const listOf = ({ accessToken }: Tokens) =>
    requestText({ target: '/projects', headers: [['Authorization', `Bearer ${accessToken}`]] })
  const one = await openSocket(gateway.url)
  const many = await Promise.all(Array.from({ length: 20 }, () => openSocket(gateway.url)))
  onTestFinished(() => {
    for (const socket of [one, ...many]) socket.destroy()
  })
  // A first request, so that the connections are not new.
  for (const socket of [one, ...many]) {
    socket.write(listOf(socket === one ? ben : ana))
    await once(socket, 'data')
  }
  batches.length = 0
  onFirstLookup = () => one.write(listOf(ben))
  for (const socket of many) socket.write(listOf(ana).repeat(15))
  await once(one, 'data')
  const [ofMany] = batches[0] ?? []
  const alone = batches.findIndex((ids) => ids.length === 1 && ids[0] !== ofMany)
  expect(alone).toBeGreaterThan(0)
  // Others of the user with many still waited.
  await expect.poll(() => batches.flat()).toHaveLength(301)
  expect(batches.slice(alone + 1).flat().length).toBeGreaterThan(64)
})
