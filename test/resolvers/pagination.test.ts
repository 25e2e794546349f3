// Pages of lists and connections: what the store is asked for, how the result is cut, and what lies beyond the page.
import { describe, expect, test } from 'vitest'
import { toConnection } from '../../src/resolvers/pagination/connection.ts'
import { connectionOf, PageInfo } from '../../src/resolvers/pagination/connection-fields.ts'
import { type ConnectionArguments, requireNumber } from '../../src/resolvers/pagination/page-arguments.ts'
import { isPaged } from '../../src/resolvers/pagination/paged.ts'
import { type ReadPart, readInParts, readWhole } from '../../src/resolvers/pagination/read-in-parts.ts'
import type { Page } from '../../src/store/contract.ts'

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

describe('a connection to five items', () => {
  const all = numbers(5)

  async function connect(args: ConnectionArguments) {
    let asked: unknown
    const { page } = toConnection(
      args,
      (extent) => () => {
        asked = extent
        const { limit, fromEnd } = extent
        if (limit === null) return all
        return fromEnd ? all.slice(Math.max(0, all.length - limit)) : all.slice(0, limit)
      },
      String,
      () => all.length,
    )
    const { nodes, hasNextPage, hasPreviousPage } = await page()
    return { nodes, beyond: [hasPreviousPage, hasNextPage], asked }
  }

  test.for<readonly [ConnectionArguments, readonly number[], readonly boolean[], number | null, true | undefined]>([
    [{}, [1, 2, 3, 4, 5], [false, false], null, undefined],
    [{ first: 0 }, [], [false, true], 1, undefined],
    [{ first: 2 }, [1, 2], [false, true], 3, undefined],
    [{ first: 5 }, [1, 2, 3, 4, 5], [false, false], 6, undefined],
    [{ first: 9, after: 'x' }, [1, 2, 3, 4, 5], [true, false], 10, undefined],
    [{ last: 2 }, [4, 5], [true, false], 3, true],
    [{ last: 0 }, [], [true, false], 1, true],
    [{ last: 5 }, [1, 2, 3, 4, 5], [false, false], 6, true],
    [{ last: 9, before: 'x' }, [1, 2, 3, 4, 5], [false, true], 10, true],
    [{ first: 4, last: 2 }, [3, 4], [true, true], 5, undefined],
    [{ first: 2, last: 4 }, [1, 2], [true, true], 5, undefined],
    [{ after: 'x', before: 'y' }, [1, 2, 3, 4, 5], [true, true], null, undefined],
  ])('reads and cuts the page for %j', async ([args, nodes, beyond, limit, fromEnd]) => {
    expect(await connect(args)).toEqual({ nodes, beyond, asked: { limit, fromEnd } })
  })
})

test('a page has a start and an end cursor, an empty page has none', async () => {
  const { pageInfo } = connectionOf<number>()
  const ends = async (nodes: readonly number[]) => {
    const page = await pageInfo({
      page: async () => ({ nodes, hasNextPage: false, hasPreviousPage: true }),
      cursorOf: (n) => `c${n}`,
      count: () => 0,
    })
    return [PageInfo.startCursor(page), PageInfo.endCursor(page), page.hasNextPage, page.hasPreviousPage]
  }
  expect(await ends([1, 2, 3])).toEqual(['c1', 'c3', false, true])
  expect(await ends([])).toEqual([null, null, false, true])
})

test('a number of items is 0 or more, or is not given', () => {
  expect([undefined, null, 0, 1].map((value) => requireNumber(value, 'first'))).toEqual([null, null, 0, 1])
  expect(() => requireNumber(-1, 'last')).toThrow('`last` must be 0 or more.')
})

describe('a list is read in parts', () => {
  const PART = 2
  const all = numbers(5).map((position) => ({ position, text: 'x'.repeat(position) }))

  /** Returns two items at a time, from either end, and records the questions. */
  function openList() {
    const told: unknown[] = []
    const asked: (readonly [after: number, before: number | undefined, limit: number | null])[] = []
    const read: ReadPart<(typeof all)[number]> = async ({ after, before, limit, fromEnd }) => {
      asked.push([after, before, limit])
      if (asked.length > 10) throw new Error('there is no end of parts')
      const within = all.filter(({ position }) => position > after && position < (before ?? Number.POSITIVE_INFINITY))
      const wanted = limit === null ? within : fromEnd ? within.slice(-limit) : within.slice(0, limit)
      const isCut = wanted.length > PART
      const items = isCut ? (fromEnd ? wanted.slice(-PART) : wanted.slice(0, PART)) : wanted
      return { items, isCut, letGo: () => told.push(`let go of ${positions(items).join(', ')}`) }
    }
    return { read, asked, told }
  }

  const PAGE: Page = { after: 0, limit: null }
  const positions = (items: readonly { readonly position: number }[]) => items.map(({ position }) => position)

  test('until it is whole, from its start or from its end', async () => {
    const forwards = openList()
    expect(positions(await readWhole(PAGE, forwards.read, () => null))).toEqual([1, 2, 3, 4, 5])
    expect(forwards.asked).toEqual([
      [0, undefined, null],
      [2, undefined, null],
      [4, undefined, null],
    ])
    const backwards = openList()
    expect(positions(await readWhole({ ...PAGE, limit: 4, fromEnd: true }, backwards.read, () => null))).toEqual([
      2, 3, 4, 5,
    ])
    expect(backwards.asked).toEqual([
      [0, undefined, 4],
      [0, 4, 2],
    ])
  })

  test('until it is whole, with each further part after its turn', async () => {
    const { read, asked } = openList()
    const paced: unknown[] = []
    await readWhole(PAGE, read, async (byteLength) => {
      paced.push([asked.length, byteLength])
    })
    expect(paced).toEqual([
      [1, 131_072],
      [2, 131_072],
    ])
  })

  test('and each part is released before the next one is read after its turn', async () => {
    const { read, asked, told } = openList()
    const list = await readInParts({ ...PAGE, limit: 5 }, read, async (byteLength) => {
      told.push(`pace ${byteLength}`)
    })
    if (!isPaged(list)) throw new Error('it came at once')
    for (let items = await list.nextPage(); items; items = await list.nextPage()) {
      told.push(positions(items as typeof all))
    }
    expect(told).toEqual([
      ...[[1, 2], 'let go of 1, 2', 'pace 131072'],
      ...[[3, 4], 'let go of 3, 4', 'pace 131072'],
      ...[[5], 'let go of 5'],
    ])
    expect(await list.nextPage()).toBe(null)
    expect(asked).toEqual([
      [0, undefined, 5],
      [2, undefined, 3],
      [4, undefined, 1],
    ])
  })

  test('at once if it is short', async () => {
    const { read, asked } = openList()
    const list = await readInParts({ ...PAGE, after: 3 }, read, () => null)
    expect(list).toEqual(all.slice(3))
    expect(asked.length).toBe(1)
  })
})
