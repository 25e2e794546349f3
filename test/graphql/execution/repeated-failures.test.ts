// A failure that is the same for every object is made once: it takes time in proportion to the document.
import { expect, test } from 'vitest'
import { FieldFailure } from '../../../src/graphql/execution/collected-errors.ts'
import { createSmallWorld } from './small-world.ts'

const TYPES = `
  type Dog { bark(times: Int! = 1): String name: String }
  type Query { dogs: [Dog] }
`

const world = createSmallWorld(TYPES, {
  Query: { dogs: () => Array.from({ length: 20 }, () => ({ name: 'Rex' })) },
  Dog: { bark: () => 'wow' },
})

test.for([
  ['an argument', 'query($n: Int = 1) { dogs { name bark(times: $n) } }', { n: null }, ['dogs', 3, 'bark']],
  ['a condition', 'query($c: Boolean = true) { dogs { name @include(if: $c) bark } }', { c: null }, ['dogs', 3]],
] as const)('%s that does not fit is one error, reported at each place', async ([, query, variables, path]) => {
  expect(await world.told(query, variables)).toEqual(await world.oracle(query, variables))
  const { errors } = await world.run(query, variables)
  expect(errors).toHaveLength(20)
  const failures = errors.filter((error) => error instanceof FieldFailure)
  expect(new Set(failures.map(({ thrown }) => thrown)).size).toBe(1)
  expect((await world.told(query, variables)).errors[3]).toMatchObject({ path })
})

test('a selection that cannot be made fails again in the next request, and succeeds with other variables', async () => {
  const query = 'query($c: Boolean = true) { dogs { name @include(if: $c) } }'
  expect((await world.told(query, { c: null })).errors).toHaveLength(20)
  expect((await world.told(query, { c: true })).errors).toEqual([])
  expect((await world.told(query, { c: null })).errors).toHaveLength(20)
})
