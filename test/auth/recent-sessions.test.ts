// Tests sessions that are used for a bounded time without a lookup: how old they get, and what ends them.
import { expect, onTestFinished, test, vi } from 'vitest'
import { createRecentSessions } from '../../src/auth/recent-sessions.ts'
import type { LiveSession } from '../../src/store/session-contract.ts'
import { createGate } from '../support/gate.ts'
import { liveBytes } from '../support/live-bytes.ts'

const MINUTES = 600_000

/** A table of sessions whose lookups the test can hold. */
function openTable({ maxAgeMs = MINUTES } = {}) {
  const table = new Map<string, LiveSession>()
  const lookups: (readonly string[])[] = []
  const gate = createGate()
  let wall = 0
  const running = new AsyncDisposableStack()
  onTestFinished(() => running.disposeAsync())
  const recent = createRecentSessions(
    async (ids) => {
      lookups.push(ids)
      const found = ids.map((id) => table.get(id) ?? null)
      await gate.passed()
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
    /** From now on, a lookup answers only after the release, with what it saw when it began. */
    hold: gate.hold,
  }
}

test('a session is used until its maximum age, by the wall clock too, and then looked up again', async () => {
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
  expect(lookups).toEqual([['a'], ['a'], ['a']])
})

test('a session is looked up again after the wall clock was set back: the machine may have slept before', async () => {
  const { add, find, advance, lookups, table } = openTable()
  add('a')
  await find('a')
  advance(1_000 - MINUTES)
  expect(find('a')).toMatchObject({ id: 'a' })
  expect(lookups).toEqual([['a']])
  table.delete('a')
  advance(-1_001)
  expect(await find('a')).toBeNull()
})

test('a session that this process ended is not used, even if an earlier lookup still saw it', async () => {
  const { add, find, forget, forgetAllOf, hold } = openTable()
  for (const id of ['a', 'b', 'c']) add(id)
  const release = hold()
  const finding = Promise.all(['a', 'b', 'c'].map((id) => find(id)))
  await new Promise((resolve) => setImmediate(resolve))
  forget([{ id: 'a', email: 'a@example.com' }])
  forgetAllOf('b@example.com')
  release()
  // A caller that asked before the end gets what was there.
  expect((await finding).map((session) => session?.id)).toEqual(['a', 'b', 'c'])
  // Only the third was kept; the others are looked up anew.
  expect(find('c')).toMatchObject({ id: 'c' })
  for (const id of ['a', 'b']) expect(find(id)).toBeInstanceOf(Promise)
})

test('a session ended in the instant in which its lookup begins counts as ended after it', async () => {
  const now = vi.spyOn(performance, 'now').mockReturnValue(1)
  onTestFinished(() => now.mockRestore())
  const { add, find, forget } = openTable()
  add('a')
  const finding = find('a')
  forget([{ id: 'a', email: 'a@example.com' }])
  expect(await finding).toMatchObject({ id: 'a' })
  expect(find('a')).toBeInstanceOf(Promise)
})

test('an ended session is dropped, alone or with all sessions of its email', async () => {
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

test('signing out everywhere does not search all sessions, and the user can sign in again', async () => {
  const { find, forgetAllOf, table, lookups } = openTable()
  let looks = 0
  for (let at = 0; at < 100; at += 1) {
    table.set(`s${at}`, {
      id: `s${at}`,
      get email() {
        looks += 1
        return 'a@example.com'
      },
      userId: 1,
      revision: 1,
      stateVersion: 'a',
      client: '',
    })
  }
  await Promise.all([...table.keys()].map(find))
  looks = 0
  forgetAllOf('a@example.com')
  expect(looks).toBeLessThan(table.size)
  const asked = lookups.length
  await Promise.all([...table.keys()].map(find))
  expect(lookups.slice(asked).flat()).toHaveLength(table.size)
  expect(find('s0')).toMatchObject({ id: 's0' })
})

test('the walk over many sessions pauses, and requests are answered in between', async () => {
  const { find, lookups, add } = openTable({ maxAgeMs: 4_000 })
  const ids = Array.from({ length: 3_500 }, (_, at) => `s${at}`)
  for (const id of ids) add(id)
  await Promise.all(ids.map(find))
  let turns = 0
  const count = () => {
    turns += 1
    counting = setImmediate(count)
  }
  let counting = setImmediate(count)
  onTestFinished(() => clearImmediate(counting))
  // Both clocks are read once for each session that is walked over.
  const walkedPerTurn = new Map<number, number>()
  const { now } = performance
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
    walkedPerTurn.set(turns, (walkedPerTurn.get(turns) ?? 0) + 1)
    return now.call(performance)
  })
  onTestFinished(() => clock.mockRestore())
  const asked = lookups.length
  await expect.poll(() => lookups.length).toBeGreaterThan(asked)
  expect(Math.max(...walkedPerTurn.values())).toBeLessThan(2_500)
})

test('a lookup that returns late does not replace the result of a newer one', async () => {
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

test('a background lookup asks for at most a thousand sessions, and notices those ended elsewhere', async () => {
  // Longer than a busy machine delays the background lookups: a session that nobody used for that long is not looked up
  // again.
  const { add, find, advance, lookups, table, running } = openTable({ maxAgeMs: 4_000 })
  const ids = Array.from({ length: 1_500 }, (_, at) => `s${at}`)
  for (const id of ids) add(id)
  await Promise.all(ids.map(find))
  const asked = lookups.length
  await expect.poll(() => lookups.length).toBeGreaterThanOrEqual(asked + 2)
  expect(Math.max(...lookups.slice(asked).map(({ length }) => length))).toBe(1_000)
  table.clear()
  // The sessions ended elsewhere; the background lookup notices it without a request.
  await expect.poll(() => ids.filter((id) => !(find(id) instanceof Promise)).length).toBe(0)
  advance(10_000)
  await new Promise((resolve) => setImmediate(resolve))
  const before = lookups.length
  await running.disposeAsync()
  expect(lookups.every(({ length }) => length > 0)).toBe(true)
  expect(lookups.length).toBeLessThanOrEqual(before + 1)
})

test('every session in use is looked up once when others, which nobody uses, are dropped', async () => {
  const { add, find, advance, lookups } = openTable({ maxAgeMs: 4_000 })
  const ids = (prefix: string) => Array.from({ length: 6 }, (_, at) => `${prefix}${at}`)
  const all = [...ids('used'), ...ids('old')]
  for (const id of all) add(id)
  await Promise.all(all.map(find))
  advance(4_001)
  await Promise.all(ids('used').map(find))
  // A session counts as in use only if it is used again after its lookup.
  ids('used').map(find)
  const asked = lookups.length
  await expect.poll(() => lookups.length).toBeGreaterThan(asked)
  expect(lookups[asked]?.toSorted()).toEqual(ids('used'))
})

test('nothing is kept of sessions that ended elsewhere', async () => {
  const { add, find, lookups, table } = openTable()
  const before = await liveBytes()
  /** In a function of its own, so that no variable refers to the ids afterwards. */
  async function use(): Promise<void> {
    const ids = Array.from({ length: 1_000 }, (_, at) => `${at}`.padEnd(20_000))
    for (const id of ids) add(id)
    await Promise.all(ids.map(find))
    table.clear()
  }
  await use()
  const held = async () => {
    lookups.length = 0
    return (await liveBytes()) - before
  }
  await expect.poll(held).toBeLessThan(5_000_000)
})

test('a background lookup in flight at the close is the last one', async () => {
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
  // Waits as long as another instance needs for three more lookups.
  await expect
    .poll(() => {
      other.find('a')
      return other.lookups.length
    })
    .toBeGreaterThanOrEqual(others + 3)
  expect(lookups.length).toBe(asked + 1)
})
