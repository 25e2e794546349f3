// The plans of a document: one for each outcome of its conditions, with nothing else of the request.
import { expect, test } from 'vitest'
import { liveBytes } from '../../support/live-bytes.ts'
import { createSmallWorld, textOf } from './small-world.ts'

const MIB = 1_048_576

const world = createSmallWorld('type Query { length(text: String): Int constructor: Int now: Int }', {
  Query: { length: (_, { text }) => text.length, constructor: () => 2, now: () => 1 },
})

test('a kept plan holds no variables except those of its conditions', async () => {
  const query = 'query($text: String, $on: Boolean!) { length(text: $text) now @include(if: $on) }'
  // Make the parts that every plan has before the measurement.
  await world.run(query, { text: '', on: true })
  const before = await liveBytes()
  const [, other] = [await world.run(query, long(true)), await world.run(query, long(false))]
  expect(textOf(other.data)).toBe(`{"length":${16 * MIB}}`)
  expect((await liveBytes()) - before).toBeLessThan(8 * MIB)
})

test('a condition behind two fragments belongs to the operation, and one in an unused fragment does not', async () => {
  const query = `query($on: Boolean!, $text: String) { length(text: $text) ...One }
    fragment One on Query { ...Two } fragment Two on Query { now @include(if: $on) }
    fragment OfAnother on Query { constructor @skip(if: $text) }`
  const seen = []
  await world.run(query, { text: '', on: true })
  const before = await liveBytes()
  for (const on of [true, false]) seen.push(textOf((await world.run(query, long(on))).data))
  expect(seen).toEqual([`{"length":${16 * MIB},"now":1}`, `{"length":${16 * MIB}}`])
  expect((await liveBytes()) - before).toBeLessThan(8 * MIB)
})

/** In one piece: a string that is repeated takes no memory. */
function long(on: boolean) {
  return { text: Buffer.alloc(16 * MIB, 'x').toString('latin1'), on }
}

test('conditions follow their variables, whatever the names are, given or not', async () => {
  const query =
    'query($constructor: Boolean = true, $__proto__: Boolean) { now @skip(if: $constructor) constructor @include(if: $__proto__) }'
  for (const variables of [{}, { constructor: false }, JSON.parse('{"__proto__":true}'), { constructor: null }]) {
    expect(await world.told(query, variables)).toEqual(await world.oracle(query, variables))
  }
})
