// Snapshots are few, and each is closed whatever happens.
import { afterEach, expect, test, vi } from 'vitest'
import { createFromSnapshot, MAX_SNAPSHOTS } from '../../src/resolvers/consistent-answer.ts'
import { createReads } from '../../src/resolvers/reads/reads.ts'
import { StoreUnavailableError } from '../../src/store/contract.ts'
import { openTestStore } from '../support/sqlite-store.ts'

async function openWorld() {
  const store = await openTestStore()
  const counts = { open: 0, most: 0 }
  async function openSnapshot(options?: { readonly isTimed?: boolean }) {
    const snapshot = await store.openSnapshot(options)
    counts.open += 1
    counts.most = Math.max(counts.most, counts.open)
    return {
      ...snapshot,
      async [Symbol.asyncDispose]() {
        counts.open -= 1
        await snapshot[Symbol.asyncDispose]()
      },
    }
  }
  const reads = createReads(store)
  return {
    counts,
    reads,
    openSnapshot,
    fromSnapshot: createFromSnapshot(openSnapshot, reads, 60_000),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
}

afterEach(() => void vi.useRealTimers())

const LIST = { userId: 1, kind: 'project' } as const

test('at most four snapshots are open at a time, and none once all answers have succeeded or failed', async () => {
  await using world = await openWorld()
  const settled = await Promise.allSettled(
    Array.from({ length: 40 }, (_, index) =>
      world.fromSnapshot(async ({ documentCount }) => {
        const count = await documentCount(LIST)
        if (index % 3 === 0) throw new Error('failed')
        return count
      }),
    ),
  )
  expect(settled.map(({ status }) => status)).toEqual(
    Array.from({ length: 40 }, (_, index) => (index % 3 === 0 ? 'rejected' : 'fulfilled')),
  )
  expect(world.counts).toEqual({ open: 0, most: 4 })
})

test('callers that wait while no snapshot opens fail with the first one, without tries of their own', async () => {
  await using world = await openWorld()
  const first = Promise.withResolvers<never>()
  let tries = 0
  const fromSnapshot = createFromSnapshot(
    () => {
      tries += 1
      return first.promise
    },
    world.reads,
    60_000,
  )
  vi.useFakeTimers({ toFake: ['performance'] })
  const asking = Array.from({ length: 40 }, () => fromSnapshot(({ documentCount }) => documentCount(LIST)))
  vi.advanceTimersByTime(3_000)
  first.reject(new StoreUnavailableError('the database does not answer'))
  for (const { reason } of (await Promise.allSettled(asking)) as PromiseRejectedResult[]) {
    expect(reason).toBeInstanceOf(StoreUnavailableError)
  }
  expect(tries).toBe(MAX_SNAPSHOTS)
  // A later caller tries for itself.
  await fromSnapshot(() => Promise.resolve()).catch(() => {})
  expect(tries).toBe(MAX_SNAPSHOTS + 1)
})

test('callers that wait while one of many snapshots cannot be opened have tries of their own', async () => {
  await using world = await openWorld()
  const others = Promise.withResolvers<void>()
  let tries = 0
  const fromSnapshot = createFromSnapshot(
    async (options) => {
      tries += 1
      if (tries === 1) throw new StoreUnavailableError('too many clients')
      if (tries <= MAX_SNAPSHOTS) await others.promise
      return world.openSnapshot(options)
    },
    world.reads,
    60_000,
  )
  const asking = Array.from({ length: 40 }, () => fromSnapshot(({ documentCount }) => documentCount(LIST)))
  await expect(asking[0]).rejects.toThrow('too many clients')
  others.resolve()
  const outcomes = await Promise.allSettled(asking)
  expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(1)
})
