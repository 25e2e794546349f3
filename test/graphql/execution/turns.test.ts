// When the executor works: which fields it resolves together, which wait for another turn, and which it never resolves.
import { expect, test } from 'vitest'
import { toPaged } from '../../../src/resolvers/pagination/paged.ts'
import { createSmallWorld, type SmallWorldOptions, textOf } from './small-world.ts'

const TYPES = `
  type Item { n: Int m: Int later: Int missing: Int strict: Int! }
  type Query { items: [Item!] nullable: [Item] a: Int b: Int now: Int lists: [[Int]] }
  type Mutation { a: Int b: Int }
`

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

/** Records what happens, with `turn` for each wait. */
function createWorld(items: () => unknown, options: SmallWorldOptions = {}) {
  const events: string[] = []
  let waiting: (() => void)[] = []
  const askLater = (name: string) => () => {
    events.push(name)
    return new Promise((resolve) => waiting.push(() => resolve(1)))
  }
  const world = createSmallWorld(
    TYPES,
    {
      Query: {
        items,
        nullable: items,
        a: askLater('a'),
        b: askLater('b'),
        now: () => 1,
        lists: () => [numbers(40_000), numbers(3)],
      },
      Mutation: { a: askLater('a'), b: askLater('b') },
      Item: {
        n(n: number) {
          events.push('item')
          return n
        },
        m: (n: number) => n,
        later: askLater('asked'),
        missing: () => askLater('asked')().then(() => Promise.reject(new Error('no'))),
        strict(n: number) {
          events.push('item')
          if (n === 2) throw new Error('no')
          return n
        },
      },
    },
    {
      ...options,
      async yieldTurn() {
        events.push('turn')
      },
    },
  )
  function release(): number {
    const released = waiting
    waiting = []
    for (const resolve of released) resolve()
    return released.length
  }

  return {
    ...world,
    events,
    /** The events in order: `turn` for waits, and the number of items between two waits. */
    counted() {
      const runs: [string, number][] = []
      for (const event of events) {
        const last = runs.at(-1)
        if (last?.[0] === event) last[1] += 1
        else runs.push([event, 1])
      }
      return runs.map(([event, count]) => (event === 'turn' ? event : count))
    },
    /** Answers the fields that wait, and returns their number. */
    release,
    /** Answers the fields that wait until none is left, and returns how many there were each time. */
    async releaseAll() {
      const counts: number[] = []
      for (;;) {
        await nextTurn()
        const count = release()
        if (count === 0) return counts
        counts.push(count)
      }
    },
  }
}

const OVERDUE: SmallWorldOptions = { clock: { isOverdue: () => true } }
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))
const itemsOf = (count: number) => `{"items":[${numbers(count).map((n) => `{"n":${n}}`)}]}`

test('values that are there already are answered without waiting', () => {
  const { run, events } = createWorld(() => numbers(100))
  const execution = run('{ now items { n m } }')
  expect(execution).not.toBeInstanceOf(Promise)
  expect(events).not.toContain('turn')
})

test('after its first items, a list waits for a turn after every sixteen, if the turns are overdue', async () => {
  const world = createWorld(() => numbers(300), OVERDUE)
  const { data } = await world.run('{ items { n } }')
  expect(textOf(data)).toBe(itemsOf(300))
  expect(world.counted()).toEqual([256, 'turn', 16, 'turn', 16, 'turn', 12])
})

test('many short lists count as one long list', async () => {
  const world = createWorld(() => numbers(4), OVERDUE)
  const fields = numbers(70).map((n) => `a${n}: items { n }`)
  await world.run(`{ ${fields.join(' ')} }`)
  expect(world.counted()).toEqual([256, 'turn', 24])
})

test('items with many fields wait for a turn sooner', async () => {
  const world = createWorld(() => numbers(100), OVERDUE)
  await world.run(
    `{ items { ${numbers(32)
      .map((n) => `a${n}: n`)
      .join(' ')} } }`,
  )
  // An item of 32 fields counts as eight items: the list itself as sixteen.
  expect(world.counted().map((each) => (each === 'turn' ? each : Number(each) / 32))).toEqual([
    32,
    ...numbers(34).flatMap(() => ['turn', 2]),
  ])
})

test('items with many fields to wait for are resolved fewer at a time', async () => {
  const world = createWorld(() => numbers(60))
  const execution = world.run(
    `{ items { ${numbers(64)
      .map((n) => `a${n}: later`)
      .join(' ')} } }`,
  )
  expect(await world.releaseAll()).toEqual([25 * 64, 25 * 64, 10 * 64])
  expect((await execution).errors).toEqual([])
})

test('a list that comes in pages waits from its first page on, and is answered as one list', async () => {
  const pages = () => inPages(numbers(20), numbers(300).slice(20))
  const world = createWorld(pages, OVERDUE)
  const { data } = await world.run('{ items { n } }')
  expect(textOf(data)).toBe(itemsOf(300))
  // It waits for each page and after every sixteen items.
  expect(world.counted().slice(0, 6)).toEqual(['turn', 16, 'turn', 4, 'turn', 16])
  expect(world.counted().filter((each) => each === 'turn')).toHaveLength(20)
})

test.for([40, 2_500])('a list of %i items waits for no turn if the turns have time left', async (count) => {
  const world = createWorld(() => numbers(count))
  const { data } = await world.run('{ items { n } }')
  expect(textOf(data)).toBe(itemsOf(count))
  expect(world.counted()).toEqual([count])
})

test('items with a field to wait for are resolved a hundred at a time', async () => {
  const world = createWorld(() => numbers(220))
  const execution = world.run('{ items { later } }')
  expect(await world.releaseAll()).toEqual([100, 100, 20])
  const { data } = await execution
  expect(JSON.parse(textOf(data)).items).toEqual(numbers(220).map(() => ({ later: 1 })))
})

test('all lists of an answer share the hundred, and each resolves at least one item of its own', async () => {
  const world = createWorld(() => numbers(150))
  const execution = world.run(`{ ${['a', 'b', 'c'].map((alias) => `${alias}: items { later }`).join(' ')} }`)
  const asked = await world.releaseAll()
  expect(asked.slice(0, 2)).toEqual([102, 102])
  expect(Math.max(...asked)).toBeLessThanOrEqual(102)
  expect(asked.reduce((sum, count) => sum + count)).toBe(450)
  const { data } = await execution
  const items = numbers(150).map(() => ({ later: 1 }))
  expect(JSON.parse(textOf(data))).toEqual({ a: items, b: items, c: items })
})

test('a list whose items fail makes room for the next list', async () => {
  const world = createWorld(() => numbers(220))
  const failing = world.run('{ nullable { missing } items { later } }')
  // One at a time, there would be hundreds of rounds.
  expect((await world.releaseAll()).length).toBeLessThan(10)
  expect((await failing).errors).toHaveLength(220)
})

test('a failure has its index in the whole list, whichever page and part it is in', async () => {
  const items = numbers(50).map((n) => (n === 3 || n === 20 || n === 45 ? 2 : 0))
  const pages = () => inPages(items.slice(0, 30), items.slice(30))
  for (const list of [() => items, pages]) {
    const { data, errors } = await createWorld(list, OVERDUE).told('{ nullable { strict } }')
    expect(errors.map(({ path }) => path)).toEqual([3, 20, 45].map((index) => ['nullable', index, 'strict']))
    expect(data).toEqual({ nullable: items.map((n) => (n === 2 ? null : { strict: 0 })) })
  }
})

test('no further item is resolved after a failure that empties its list', async () => {
  const world = createWorld(() => numbers(40))
  expect((await world.told('{ items { strict } }')).data).toEqual({ items: null })
  expect(world.counted()).toEqual([3])
})

test('no further field is resolved after a failure that empties its object', async () => {
  const world = createWorld(() => [2])
  const execution = world.told('{ nullable { later strict n } }')
  await nextTurn()
  world.release()
  expect((await execution).data).toEqual({ nullable: [null] })
  expect(world.events).toEqual(['asked', 'item'])
})

test('the fields of a query are resolved together, each once', async () => {
  const world = createWorld(() => [])
  const execution = world.told('{ now a b }')
  expect(world.events).toEqual(['a', 'b'])
  world.release()
  expect((await execution).data).toEqual({ now: 1, a: 1, b: 1 })
  expect(world.events).toEqual(['a', 'b'])
})

test('the fields of a mutation are resolved one after the other', async () => {
  const world = createWorld(() => [])
  const execution = world.told('mutation { a b }')
  await nextTurn()
  expect(world.events).toEqual(['a'])
  world.release()
  await nextTurn()
  expect(world.events).toEqual(['a', 'b'])
  world.release()
  expect((await execution).data).toEqual({ a: 1, b: 1 })
})

test('long lists inside a list are answered whole', async () => {
  const { data } = await createWorld(() => []).told('{ lists }')
  expect(data).toEqual({ lists: [numbers(40_000), numbers(3)] })
})

function inPages<T>(...pages: readonly (readonly T[])[]) {
  const rest = pages.values()
  return toPaged(async () => rest.next().value ?? null)
}
