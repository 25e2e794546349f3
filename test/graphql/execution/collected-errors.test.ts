// Which failures are reported, and in which order: as if the fields had been executed one after the other, depth first.
import { expect, test } from 'vitest'
import { createCollectedErrors, FieldFailure, type Path } from '../../../src/graphql/execution/collected-errors.ts'
import { UNCOUNTED } from '../../../src/resolvers/request-budget.ts'

/** Made of the position among the siblings at each step. */
function pathOf(...orders: readonly number[]): Path | null {
  return orders.reduce<Path | null>((parent, order) => ({ parent, key: order, order }), null)
}

type Row = readonly [orders: readonly number[], nulledDepth: number]

function collect(rows: readonly Row[]) {
  const errors = createCollectedErrors(UNCOUNTED)
  for (const [orders, depth] of rows)
    errors.add(new FieldFailure(orders.join(), [], pathOf(...orders)), pathOf(...orders.slice(0, depth)))
  return errors
}

/** Each row has the path of a failure, and the length of the part of this path that leads to what became null. */
function told(rows: readonly Row[]): readonly unknown[] {
  const failures = collect(rows).inOrder(() => Promise.reject(new Error('no turn was needed')))
  if (failures instanceof Promise) throw new Error('they were not there at once')
  return failures.map(({ thrown }) => thrown)
}

test('nothing is reported if nothing failed', () => {
  expect(told([])).toEqual([])
})

test('failures are reported depth first, an outer one before those inside it', () => {
  const all = [[2], [0, 1], [0], [1, 0, 5], [0, 1, 0], [1, 0], [10, 0], [9]] as const
  expect(told(all.map((orders) => [orders, orders.length] as const))).toEqual(['0', '1,0', '2', '9', '10,0'])
  expect(
    told([
      [[1, 1], 2],
      [[1, 0], 2],
      [[0, 9], 2],
    ]),
  ).toEqual(['0,9', '1,0', '1,1'])
})

test('a failure that makes a place null hides later failures inside it, and none beside it', () => {
  expect(
    told([
      [[0, 0], 1],
      [[0, 1], 2],
      [[1, 1], 2],
    ]),
  ).toEqual(['0,0', '1,1'])
  expect(
    told([
      [[0, 0], 2],
      [[0, 1], 1],
      [[0, 2], 2],
    ]),
  ).toEqual(['0,0', '0,1'])
  expect(
    told([
      [[0, 3], 0],
      [[0, 1], 2],
      [[1, 0], 2],
    ]),
  ).toEqual(['0,1', '0,3'])
})

test('many failures are ordered over several turns, with the same result', async () => {
  const [lists, fields] = [500, 100]
  const places = Array.from(
    { length: lists * fields },
    (_, index) => [index % lists, Math.floor(index / lists)] as const,
  )
  const rows = places.map(([list, field]): Row => [[list, field], list === 7 && field === 3 ? 1 : 2])
  let turns = 0
  const failures = await collect(rows).inOrder(async () => {
    turns += 1
  })
  const inOrder = places
    .toSorted(([a, b], [c, d]) => a - c || b - d)
    .filter(([list, field]) => list !== 7 || field <= 3)
  expect(failures.map(({ thrown }) => thrown).join(' ')).toBe(inOrder.join(' '))
  expect(turns).toBeGreaterThan(rows.length / 1_000)
})
