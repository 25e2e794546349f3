import { expect, test } from 'vitest'
import { type Admit, createAdmission } from '../src/http/limits/admission.ts'
import { ask, bearer, startGateway } from './support/gateway.ts'
import { ANA, SMALL_WORLD } from './support/workspaces.ts'

/** An event loop of the test's own: each turn takes as long as it is told. */
function simulate(maxDelayMs = 100) {
  const changes: (readonly [isRefusing: boolean, refused: number])[] = []
  const delays: number[] = []
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
    onDelay: (delay) => delays.push(delay),
    onChange: (...change) => changes.push(change),
  })
  return {
    changes,
    delays,
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

test('the quota is what a turn could do in time, and grows by a quarter while turns are in time', () => {
  const { turn, changes } = simulate()
  const admitted = Array.from({ length: 12 }, () => turn(1_000, 1))
  // A turn of exactly the delay is in time; from the third late one on the quota shrinks.
  expect(admitted).toEqual([1_000, 1_000, 1_000, 100, 125, 125, 125, 100, 125, 125, 125, 100])
  expect(changes).toEqual([[true, 0]])
})

test('everything is let in again once not half of the quota is asked for', () => {
  const { turn, changes } = simulate()
  for (let n = 0; n < 3; n += 1) turn(1_000, 1)
  // Of a quota of 100: half of it is near it, less is not.
  expect([turn(50, 1), turn(1_000, 0)]).toEqual([50, 125])
  expect(changes).toEqual([[true, 0]])
  expect([turn(77, 0), turn(1_000, 0)]).toEqual([77, 1_000])
  expect(changes).toEqual([
    [true, 0],
    [false, 875],
  ])
  for (let n = 0; n < 3; n += 1) turn(1_000, 1)
  turn(1_000, 0)
  turn(0, 0)
  expect(changes.slice(2)).toEqual([
    [true, 0],
    [false, 900],
  ])
})

test('how far behind the event loop was is told at every look, never less than nothing', () => {
  const { turn, delays } = simulate()
  for (const milliseconds of [0, 5, 300, -1]) turn(1, milliseconds)
  expect(delays).toEqual([0, 5, 300, 0])
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
  for (let round = 0; round < 2; round += 1) {
    turn(1, 0)
    for (let n = 0; n < 50; n += 1) turn(0, 0)
    expect(isTicking()).toBe(true)
    turn(0, 0)
    expect(isTicking()).toBe(false)
  }
  // A request in between begins the count anew.
  for (let n = 0; n < 40; n += 1) turn(0, 0)
  turn(1, 0)
  for (let n = 0; n < 40; n += 1) turn(0, 0)
  turn(1, 0)
  for (let n = 0; n < 50; n += 1) turn(0, 0)
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
