// Tests how many answers are made at a time for one user: the rest wait, and nobody else waits for them.
import { expect, test } from 'vitest'
import { createGate } from './support/gate.ts'
import { startGateway } from './support/gateway.ts'
import { stopClock } from './support/stop-clock.ts'
import { ANA, BEN, documentLine, exportLine } from './support/workspaces.ts'

/** As many as a browser requests at a time over HTTP/1.1. */
const AT_A_TIME = 6
const MAY_WAIT = 64
const MAX_WAIT_MS = 60_000

/** Ana's reads of exports wait at a gate; `inStore` is how many of them wait there. `arrived` counts all requests. */
async function startHolding() {
  const gate = createGate()
  const anas = new Set<string>()
  let inStore = 0
  let most = 0
  let arrived = 0
  const gateway = await startGateway({
    maxQueueDelayMs: MAX_WAIT_MS,
    wrapStore: (store) => ({
      ...store,
      liveSessions(ids, now) {
        arrived += ids.length
        return store.liveSessions(ids, now)
      },
      async latestExports(questions) {
        const count = questions.filter(({ ref }) => anas.has(ref)).length
        inStore += count
        most = Math.max(most, inStore)
        if (count > 0) await gate.passed()
        inStore -= count
        return store.latestExports(questions)
      },
    }),
  })
  const refs = Array.from({ length: AT_A_TIME + MAY_WAIT }, (_, index) => `a${index}`)
  const lines = refs.map(
    (ref) =>
      documentLine('project', ANA, `{"id":"${ref}","ref":"${ref}"}`) +
      exportLine(ANA, { r: ref, createdAt: '2026-01-01T00:00:00Z', elements: [`"${ref}"`] }),
  )
  const ofBen =
    documentLine('project', BEN, '{"id":"b","ref":"b"}') +
    exportLine(BEN, { r: 'b', createdAt: '2026-01-01T00:00:00Z', elements: ['"b"'] })
  await gateway.load(lines.join('') + ofBen)
  for (const ref of refs) anas.add(ref)
  const [ana, ben] = await Promise.all([gateway.login(ANA), gateway.login(BEN)])
  return {
    open: gate.hold(),
    refs,
    ask: (ref: string) => gateway.get(`/exports?r=${ref}`, ana.accessToken),
    askGraphQL: (ref: string) =>
      gateway.graphql(`{ me { latestExport(ref: "${ref}") { data } } }`, { accessToken: ana.accessToken }),
    askOfBen: () => gateway.get('/exports?r=b', ben.accessToken),
    inStore: () => inStore,
    most: () => most,
    arrived: () => arrived,
  }
}

test('six answers of a user are made at a time, over REST and GraphQL together; another user waits for none', async () => {
  const { open, refs, ask, askGraphQL, askOfBen, inStore, most } = await startHolding()
  const rest = refs.slice(0, 8).map((ref) => ask(ref))
  const inGraphQL = refs.slice(8, 16).map((ref) => askGraphQL(ref))
  await expect.poll(inStore).toBe(AT_A_TIME)
  // By the third answer, all of Ana's requests have long arrived.
  for (let asked = 0; asked < 3; asked += 1) expect((await askOfBen()).text).toBe('["b"]')
  expect(inStore()).toBe(AT_A_TIME)
  open()
  expect((await Promise.all(rest)).map(({ text }) => text)).toEqual(refs.slice(0, 8).map((ref) => `["${ref}"]`))
  expect((await Promise.all(inGraphQL)).map(({ text }) => text)).toEqual(
    refs.slice(8, 16).map((ref) => `{"data":{"me":{"latestExport":{"data":["${ref}"]}}}}`),
  )
  expect(most()).toBe(AT_A_TIME)
})

test('sixty-four requests of a user may wait, however long; another one is refused once the first waited too long', async () => {
  const { open, refs, ask, inStore, arrived } = await startHolding()
  const pass = stopClock()
  const [last = '', ...earlier] = refs
  const before = arrived()
  const statuses: number[] = []
  const note = async (ref: string) => statuses.push((await ask(ref)).status)
  const asked = earlier.map(note)
  await expect.poll(() => arrived() - before).toBe(earlier.length)
  await expect.poll(inStore).toBe(AT_A_TIME)
  pass(MAX_WAIT_MS + 1)
  asked.push(note(last))
  await expect.poll(() => arrived() - before).toBe(refs.length)
  const refused = await ask('one-too-many')
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
  expect(statuses).toEqual([])
  open()
  await Promise.all(asked)
  expect(statuses).toEqual(refs.map(() => 200))
})
