// Tests coalescing: equal concurrent requests share one answer, which is made and held once.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createCoalescing, isSentAtOnce, type Made, type Shared } from '../../src/http/caching/coalescing.ts'
import { createConcurrencyLimit } from '../../src/http/limits/concurrency-limit.ts'
import { liveSession } from '../support/live-session.ts'

/** With a limit of its own: what one test leaves behind must not hold up the next. */
function createCoalesce({ isOn = true } = {}) {
  const limit = createConcurrencyLimit({ maxRunning: 2, freeWaiting: 100, maxWaitMs: 1_000 })
  return createCoalescing<number>({ isOn, limit })
}

/** The client of a request does not leave before the answer. */
const stays = () => {}

/** Clients that leave when they are told to. */
function createClients() {
  const leaves: (() => void)[] = []
  return { leaves, mayLeave: (leave: () => void) => void leaves.push(leave) }
}

/** Makes 1, 2, 3 …, each when it is told to. */
function createMaker({ isOfState = true } = {}) {
  const waiting: PromiseWithResolvers<void>[] = []
  const givenBack: number[] = []
  async function make(): Promise<Made<number>> {
    const turn = Promise.withResolvers<void>()
    const value = waiting.push(turn)
    await turn.promise
    return {
      value,
      isOfState,
      held: {
        [Symbol.dispose]() {
          givenBack.push(value)
        },
      },
    }
  }
  return { make, waiting, givenBack }
}

/**
 * The value of each request, or the code of its failure, or `waits`. Nothing but `make` takes longer than the turn that
 * this waits for.
 */
async function outcomesOf(requests: readonly Promise<Shared<number>>[]): Promise<readonly (number | string)[]> {
  const outcomes = requests.map((): number | string => 'waits')
  for (const [at, request] of requests.entries()) {
    request.then(
      ({ value }) => {
        outcomes[at] = value
      },
      ({ code }) => {
        outcomes[at] = code
      },
    )
  }
  await nextTurn()
  return outcomes
}

test('equal requests share one answer while it is made or held, and the last one releases it', async () => {
  const coalesce = createCoalesce()
  const { make, waiting, givenBack } = createMaker()
  const both = [coalesce(liveSession(1), 'list', make, stays), coalesce(liveSession(1), 'list', make, stays)]
  waiting[0]?.resolve()
  const [first, second] = await Promise.all(both)
  const third = await coalesce(liveSession(1), 'list', make, stays)
  expect([first?.value, second?.value, third.value, waiting.length]).toEqual([1, 1, 1, 1])
  first?.[Symbol.dispose]()
  third[Symbol.dispose]()
  expect(givenBack).toEqual([])
  second?.[Symbol.dispose]()
  expect(givenBack).toEqual([1])
  const later = coalesce(liveSession(1), 'list', make, stays)
  waiting[1]?.resolve()
  expect((await later).value).toBe(2)
})

test.each([
  ['another user', liveSession(2), 'list'],
  ['another state version', liveSession(1, 'b'), 'list'],
  ['another operation', liveSession(1), 'other'],
  ['a viewer without a workspace', liveSession(null), 'list'],
  ['a request without a session', null, 'list'],
])('%s never gets the answer that was made for the first request', async (_, who, operation) => {
  const coalesce = createCoalesce()
  const { make, waiting } = createMaker()
  const first = coalesce(liveSession(1), 'list', make, stays)
  const other = coalesce(who, operation, make, stays)
  for (const turn of waiting) turn.resolve()
  expect([(await first).value, (await other).value]).toEqual([1, 2])
})

test.each([
  ['two viewers without a workspace', true, liveSession(null)],
  ['all requests with coalescing off', false, liveSession(1)],
])('%s make their own answers', async (_, isOn, who) => {
  const coalesce = createCoalesce({ isOn })
  const { make, waiting, givenBack } = createMaker()
  const both = [coalesce(who, 'list', make, stays), coalesce(who, 'list', make, stays)]
  for (const turn of waiting) turn.resolve()
  const [first, second] = await Promise.all(both)
  expect([first?.value, second?.value]).toEqual([1, 2])
  second?.[Symbol.dispose]()
  expect(givenBack).toEqual([2])
})

test('an answer of another state version is for its own request alone', async () => {
  const coalesce = createCoalesce()
  const { make, waiting, givenBack } = createMaker({ isOfState: false })
  const [first, second] = [coalesce(liveSession(1), 'list', make, stays), coalesce(liveSession(1), 'list', make, stays)]
  waiting[0]?.resolve()
  const own = await first
  await expect.poll(() => waiting.length).toBe(2)
  waiting[1]?.resolve()
  const others = await second
  expect([own.value, others.value]).toEqual([1, 2])
  own[Symbol.dispose]()
  expect(givenBack).toEqual([1])
  others[Symbol.dispose]()
  expect(givenBack).toEqual([1, 2])
})

test('answers that are made again because they were of another state wait for each other, too', async () => {
  const coalesce = createCoalesce()
  const { make, waiting } = createMaker({ isOfState: false })
  const requests = Array.from({ length: 4 }, () => coalesce(liveSession(1), 'list', make, stays))
  waiting[0]?.resolve()
  await requests[0]
  await nextTurn()
  // Of the three others, two at a time.
  expect(waiting).toHaveLength(3)
  waiting[1]?.resolve()
  await expect.poll(() => waiting).toHaveLength(4)
})

test('all requests that wait for an answer fail with it, and the next request tries again', async () => {
  const coalesce = createCoalesce()
  const { make, waiting } = createMaker()
  const both = [coalesce(liveSession(1), 'list', make, stays), coalesce(liveSession(1), 'list', make, stays)]
  waiting[0]?.reject(new Error('no'))
  expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  const later = coalesce(liveSession(1), 'list', make, stays)
  waiting[1]?.resolve()
  expect((await later).value).toBe(2)
})

test('too many different answers of one user wait for each other, and other users do not wait', async () => {
  const coalesce = createCoalesce()
  const { make, waiting } = createMaker()
  const own = ['a', 'b', 'c', 'd'].map((operation) => coalesce(liveSession(1), operation, make, stays))
  expect(waiting.length).toBe(2)
  const other = coalesce(liveSession(2), 'a', make, stays)
  waiting[2]?.resolve()
  expect((await other).value).toBe(3)
  expect(waiting.length).toBe(3)
  // A failed answer makes room as well.
  waiting[0]?.reject(new Error('no'))
  await expect(own[0]).rejects.toThrow('no')
  await expect.poll(() => waiting.length).toBe(4)
  for (const turn of waiting) turn.resolve()
  await expect.poll(() => waiting.length).toBe(5)
  waiting[4]?.resolve()
  expect((await Promise.all(own.slice(1))).map(({ value }) => value)).toEqual([2, 4, 5])
  const later = coalesce(liveSession(1), 'e', make, stays)
  expect(waiting.length).toBe(6)
  waiting[5]?.resolve()
  expect((await later).value).toBe(6)
})

test('work that waits is given up when the last of its clients has left, and the next request for it waits anew', async () => {
  const coalesce = createCoalesce()
  const { make, waiting } = createMaker()
  const { leaves, mayLeave } = createClients()
  const running = ['a', 'b'].map((operation) => coalesce(liveSession(1), operation, make, stays))
  const left = [1, 2].map(() => coalesce(liveSession(1), 'c', make, mayLeave))
  leaves[0]?.()
  expect(await outcomesOf(left)).toEqual(['waits', 'waits'])
  const joined = coalesce(liveSession(1), 'c', make, mayLeave)
  leaves[1]?.()
  leaves[2]?.()
  const anew = coalesce(liveSession(1), 'c', make, stays)
  expect(await outcomesOf([...left, joined, anew])).toEqual(['BAD_REQUEST', 'BAD_REQUEST', 'BAD_REQUEST', 'waits'])
  for (const turn of waiting) turn.resolve()
  expect(await outcomesOf(running)).toEqual([1, 2])
  expect(waiting.length).toBe(3)
  waiting[2]?.resolve()
  expect(await outcomesOf([anew])).toEqual([3])
})

test.each([
  ['at once', []],
  ['after it waited', ['a', 'b']],
])('work that began %s is completed for the next request, although its clients have left', async (_, before) => {
  const coalesce = createCoalesce()
  const { make, waiting } = createMaker()
  const { leaves, mayLeave } = createClients()
  const running = before.map((operation) => coalesce(liveSession(1), operation, make, stays))
  const left = coalesce(liveSession(1), 'list', make, mayLeave)
  for (const turn of waiting.slice(0, before.length)) turn.resolve()
  await outcomesOf(running)
  for (const leave of leaves) leave()
  const next = coalesce(liveSession(1), 'list', make, stays)
  waiting.at(-1)?.resolve()
  const value = before.length + 1
  expect(await outcomesOf([left, next])).toEqual([value, value])
  expect(waiting).toHaveLength(value)
})

test('with coalescing off, work that waits is given up when its client has left, and takes no place later', async () => {
  const coalesce = createCoalesce({ isOn: false })
  const { make, waiting } = createMaker()
  const { leaves, mayLeave } = createClients()
  const running = ['a', 'b'].map((operation) => coalesce(liveSession(1), operation, make, stays))
  const left = coalesce(liveSession(1), 'c', make, mayLeave)
  leaves[0]?.()
  expect(await outcomesOf([left])).toEqual(['BAD_REQUEST'])
  for (const turn of waiting) turn.resolve()
  expect(await outcomesOf(running)).toEqual([1, 2])
  expect(waiting).toHaveLength(2)
  for (const operation of ['d', 'e']) void coalesce(liveSession(1), operation, make, stays)
  expect(waiting).toHaveLength(4)
})

test.each([
  ['a small body', true, Buffer.alloc(65_536)],
  ['a larger body', false, Buffer.alloc(65_537)],
  ['a text', false, 'text'],
  ['a streamed body', false, { async *[Symbol.asyncIterator]() {} }],
])('%s is sent at once: %s', (_, isAtOnce, body) => {
  expect(isSentAtOnce({ status: 200, headers: {}, body })).toBe(isAtOnce)
})
