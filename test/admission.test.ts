import { expect, test } from 'vitest'
import { type Admit, createAdmission } from '../src/http/limits/admission.ts'
import { ask, bearer, startGateway } from './support/gateway.ts'
import { ANA, SMALL_WORLD } from './support/workspaces.ts'

/** An event loop of the test's own: each turn takes as long as it is told. */
function simulate(maxDelayMs = 100) {
  const changes: (readonly [isRefusing: boolean, refused: number])[] = []
  let [now, isTicking] = [0, false]
  let tick = (): void => {}
  const admit = createAdmission({
    maxDelayMs,
    now: () => now,
    every(_, callback) {
      isTicking = true
      tick = callback
      return () => {
        isTicking = false
      }
    },
    onDelay() {},
    onChange: (...change) => changes.push(change),
  })
  return {
    changes,
    isTicking: () => isTicking,
    /** `requests` arrive; each that is let in takes its milliseconds. Answers how many were. */
    turn(requests: number, millisecondsEach: number): number {
      const admitted = count(admit, requests)
      now += 20 + admitted * millisecondsEach
      if (isTicking) tick()
      return admitted
    },
  }
}

function count(admit: Admit, requests: number): number {
  return Array.from({ length: requests }, admit).filter(Boolean).length
}

test('a burst is answered, however late', () => {
  const { turn, changes } = simulate()
  expect([turn(1_000, 1), turn(1_000, 1), turn(10, 1), turn(10, 1)]).toEqual([1_000, 1_000, 10, 10])
  expect(changes).toEqual([])
})

test('while the event loop stays behind, a turn takes no more than it can answer in time', () => {
  const { turn, changes } = simulate()
  for (let n = 0; n < 3; n += 1) turn(1_000, 1)
  const admitted = Array.from({ length: 100 }, () => turn(1_000, 1))
  // 100 ms of work are 100 of these requests; the quota looks for the edge from below.
  expect(Math.max(...admitted)).toBeLessThanOrEqual(130)
  expect(admitted.reduce((sum, one) => sum + one) / admitted.length).toBeGreaterThan(70)
  expect(changes).toEqual([[true, 0]])
})

test('when there is less to do, everything is let in again, and what was refused is told', () => {
  const { turn, changes } = simulate()
  for (let n = 0; n < 10; n += 1) turn(1_000, 1)
  const admitted = Array.from({ length: 20 }, () => turn(10, 1))
  expect(admitted.slice(10)).toEqual(Array(10).fill(10))
  expect(changes.map(([isRefusing]) => isRefusing)).toEqual([true, false])
  expect(changes[1]?.[1]).toBeGreaterThan(1_000)
})

test('requests that are slow without an end still get through, a few at a time', () => {
  const { turn } = simulate()
  const admitted = Array.from({ length: 50 }, () => turn(100, 500))
  expect(Math.min(...admitted)).toBe(32)
})

test('without requests nothing is looked at', () => {
  const { turn, isTicking } = simulate()
  turn(1, 0)
  for (let n = 0; n < 60; n += 1) turn(0, 0)
  expect(isTicking()).toBe(false)
  turn(1, 0)
  expect(isTicking()).toBe(true)
})

test('more than can be answered is 503 with Retry-After in both dialects, and health is always answered', async () => {
  const gateway = await startGateway({
    maxQueueDelayMs: 10,
    wrapStore: (store) => ({
      ...store,
      liveSessions(ids, now) {
        for (const end = performance.now() + 2 * ids.length; performance.now() < end; );
        return store.liveSessions(ids, now)
      },
    }),
  })
  await gateway.load(SMALL_WORLD)
  const { accessToken } = await gateway.login(ANA)
  const seen = new Map<string, string>()
  const healths = new Set<number>()
  const hasAll = () => ['rest 200', 'rest 503', 'graphql 503'].every((name) => seen.has(name))
  const clients = Array.from({ length: 200 }, async (_, client) => {
    while (!hasAll()) {
      const isGraphql = client % 2 === 0
      const answer = isGraphql
        ? await gateway.graphql('{ me { email } }', { accessToken })
        : await gateway.get('/projects', accessToken)
      seen.set(`${isGraphql ? 'graphql' : 'rest'} ${answer.status}`, answer.text)
      if (answer.status === 503) expect(answer.headers.get('retry-after')).toBe('1')
      healths.add((await ask(`${gateway.url}/${client % 3 === 0 ? 'healthz' : 'readyz'}`)).status)
    }
  })
  await Promise.all(clients)
  expect([...healths]).toEqual([200])
  expect(JSON.parse(seen.get('rest 503') ?? '').code).toBe('UNAVAILABLE')
  expect(JSON.parse(seen.get('graphql 503') ?? '').errors[0].extensions.code).toBe('UNAVAILABLE')
  // It is no failure of the gateway: the log says it once, not for every request.
  expect(gateway.reported).toEqual([])
  await expect
    .poll(async () => (await ask(`${gateway.url}/projects`, { headers: bearer(accessToken) })).status)
    .toBe(200)
})
