// Long answers of several users at a time: whose part is read next, and who has room for theirs.
import { expect, test } from 'vitest'
import { createInFlightBytes } from '../../src/http/limits/in-flight-bytes.ts'
import { startGateway, type TestGateway, type Tokens } from '../support/gateway.ts'
import { ANA, BEN, documentLine } from '../support/workspaces.ts'

/** Each is a part by itself. */
const DOCUMENT_LENGTH = 140_000
const DOCUMENTS = 8
const LISTS = 4
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

test('the parts of one long list are read between those of the many lists of another user', async () => {
  /** Of each part that was read, whose it is. */
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
  // One or a few of the other's after each; in one line with them it was all that the other waits for.
  expect(span.length).toBeLessThan(2 * REQUESTS * LISTS)
})

test('the many lists of one user leave room for one of another', async () => {
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
  // They did ask for more than there is.
  expect(await asked).toContain(503)
})
