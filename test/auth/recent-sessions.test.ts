// Sessions that are used for a bounded time without being looked up: how old they get, and what ends them.
import { expect, onTestFinished, test, vi } from 'vitest'
import { createRecentSessions } from '../../src/auth/recent-sessions.ts'
import type { LiveSession } from '../../src/store/session-contract.ts'

const MINUTES = 600_000

/** Sessions that there are, whose look-ups may be held up. */
function openTable({ maxAgeMs = MINUTES } = {}) {
  const table = new Map<string, LiveSession>()
  const lookups: (readonly string[])[] = []
  let gate: Promise<void> | null = null
  let wall = 0
  const running = new AsyncDisposableStack()
  onTestFinished(() => running.disposeAsync())
  const recent = createRecentSessions(
    async (ids) => {
      lookups.push(ids)
      const found = ids.map((id) => table.get(id) ?? null)
      await gate
      return found
    },
    { maxAgeMs, clock: () => wall, running },
  )
  return {
    ...recent,
    table,
    lookups,
    running,
    add(id: string, revision = 1) {
      table.set(id, { id, email: `${id}@example.com`, userId: 1, revision, stateVersion: 'a', client: '' })
    },
    advance(milliseconds: number) {
      wall += milliseconds
    },
    /** The look-ups that begin from now on answer what they saw when this is called. */
    hold() {
      const held = Promise.withResolvers<void>()
      gate = held.promise
      return () => {
        gate = null
        held.resolve()
      }
    },
  }
}

test('a session is used for as long as it may, by the clock too, and then looked up again', async () => {
  const { add, find, advance, lookups, table } = openTable()
  add('a')
  expect(await find('a')).toMatchObject({ id: 'a', revision: 1 })
  table.delete('a')
  advance(MINUTES - 1_000)
  expect(find('a')).toMatchObject({ id: 'a' })
  expect(lookups).toEqual([['a']])
  advance(1_001)
  expect(await find('a')).toBeNull()
  add('a', 2)
  expect(await find('a')).toMatchObject({ revision: 2 })
  advance(-10 * MINUTES)
  expect(find('a')).toMatchObject({ revision: 2 })
  expect(lookups).toEqual([['a'], ['a'], ['a']])
})

test('what this process ended is not used, though a look-up that began before still saw it', async () => {
  const { add, find, forget, forgetAllOf, hold } = openTable()
  for (const id of ['a', 'b', 'c']) add(id)
  const release = hold()
  const finding = Promise.all(['a', 'b', 'c'].map((id) => find(id)))
  await new Promise((resolve) => setImmediate(resolve))
  forget([{ id: 'a', email: 'a@example.com' }])
  forgetAllOf('b@example.com')
  release()
  // Who asked before it was ended gets what was there.
  expect((await finding).map((session) => session?.id)).toEqual(['a', 'b', 'c'])
  // Only the third was kept: the others are looked up anew.
  expect(find('c')).toMatchObject({ id: 'c' })
  for (const id of ['a', 'b']) expect(find(id)).toBeInstanceOf(Promise)
})

test('what is ended in the instant in which a look-up begins counts as ended after it', async () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(1)
  onTestFinished(() => now.mockRestore())
  const { add, find, forget } = openTable()
  add('a')
  const finding = find('a')
  forget([{ id: 'a', email: 'a@example.com' }])
  expect(await finding).toMatchObject({ id: 'a' })
  expect(find('a')).toBeInstanceOf(Promise)
})

test('what was kept is dropped when it is ended: one by one, or all of an email', async () => {
  const { add, find, forget, forgetAllOf } = openTable()
  for (const id of ['a', 'b', 'c']) {
    add(id)
    await find(id)
    expect(find(id)).toMatchObject({ id })
  }
  forget([{ id: 'a', email: 'a@example.com' }])
  forgetAllOf('b@example.com')
  for (const id of ['a', 'b']) expect(find(id)).toBeInstanceOf(Promise)
  expect(find('c')).toMatchObject({ id: 'c' })
})

test('a look-up that comes back late does not take the place of a newer one', async () => {
  const { add, find, advance, hold } = openTable()
  add('a', 1)
  const release = hold()
  const late = find('a')
  await new Promise((resolve) => setImmediate(resolve))
  const releaseNewer = hold()
  add('a', 2)
  const newer = find('a')
  await new Promise((resolve) => setImmediate(resolve))
  releaseNewer()
  expect(await newer).toMatchObject({ revision: 2 })
  release()
  expect(await late).toMatchObject({ revision: 1 })
  expect(find('a')).toMatchObject({ revision: 2 })
  advance(1)
})

test('those in use are looked up behind the requests, as lists of a thousand, until nobody uses them or all is closed', async () => {
  // Longer than a busy machine keeps the feed from its turn: what nobody used for that long is not looked up any more.
  const { add, find, advance, lookups, table, running } = openTable({ maxAgeMs: 4_000 })
  const ids = Array.from({ length: 1_500 }, (_, at) => `s${at}`)
  for (const id of ids) add(id)
  await Promise.all(ids.map(find))
  const asked = lookups.length
  await expect.poll(() => lookups.length).toBeGreaterThanOrEqual(asked + 2)
  expect(Math.max(...lookups.slice(asked).map(({ length }) => length))).toBe(1_000)
  table.clear()
  // Ended elsewhere: known without being asked for.
  await expect.poll(() => ids.filter((id) => !(find(id) instanceof Promise)).length).toBe(0)
  advance(10_000)
  await new Promise((resolve) => setImmediate(resolve))
  const before = lookups.length
  await running.disposeAsync()
  expect(lookups.every(({ length }) => length > 0)).toBe(true)
  expect(lookups.length).toBeLessThanOrEqual(before + 1)
})

test('each of those in use is looked up once, when others that nobody uses are dropped', async () => {
  const { add, find, advance, lookups } = openTable({ maxAgeMs: 4_000 })
  const ids = (prefix: string) => Array.from({ length: 6 }, (_, at) => `${prefix}${at}`)
  const all = [...ids('used'), ...ids('old')]
  for (const id of all) add(id)
  await Promise.all(all.map(find))
  advance(4_001)
  await Promise.all(ids('used').map(find))
  // Only what is used again after its lookup counts as in use.
  ids('used').map(find)
  const asked = lookups.length
  await expect.poll(() => lookups.length).toBeGreaterThan(asked)
  expect(lookups[asked]?.toSorted()).toEqual(ids('used'))
})

test('a look that is under way when all is closed is the last', async () => {
  const { add, find, hold, lookups, running } = openTable({ maxAgeMs: 4_000 })
  const other = openTable({ maxAgeMs: 4_000 })
  for (const one of [{ add, find }, other]) {
    one.add('a')
    await one.find('a')
  }
  const release = hold()
  const asked = lookups.length
  await expect.poll(() => lookups.length).toBe(asked + 1)
  await running.disposeAsync()
  release()
  const others = other.lookups.length
  // As long as another one looks three times more.
  await expect
    .poll(() => {
      other.find('a')
      return other.lookups.length
    })
    .toBeGreaterThanOrEqual(others + 3)
  expect(lookups.length).toBe(asked + 1)
})
