// The errors of a response as text: many errors are written over several turns of the event loop.
import { expect, test } from 'vitest'
import { GatewayError } from '../../../src/errors.ts'
import { writeErrors, writeErrorsInTurns } from '../../../src/graphql/endpoint/written-errors.ts'
import { FieldFailure } from '../../../src/graphql/execution/collected-errors.ts'
import { encodeWhole, type Text } from '../../../src/graphql/execution/text.ts'

const REPORT = () => {
  throw new Error('nothing was our fault')
}

function failures(count: number): readonly FieldFailure[] {
  const refused = new GatewayError('NO_PROJECT')
  return Array.from({ length: count }, (_, order) => new FieldFailure(refused, [], { parent: null, key: order, order }))
}

function parsed(text: Text | null) {
  return text === null ? null : JSON.parse(Buffer.from(encodeWhole(text) ?? '').toString())
}

test('many errors give the same text when they are written in turns, about a hundred in each', async () => {
  let turns = 0
  const thrown = failures(3_000)
  const written = await writeErrorsInTurns(thrown, REPORT, async () => {
    turns += 1
  })
  expect(parsed(written.text)).toEqual(parsed(writeErrors(thrown, REPORT).text))
  expect(parsed(written.text)).toHaveLength(3_000)
  expect(turns).toBeGreaterThanOrEqual(29)
})

test('a few errors are written without waiting for a turn', async () => {
  const noTurn = () => Promise.reject(new Error('no turn was needed'))
  expect(parsed((await writeErrorsInTurns(failures(50), REPORT, noTurn)).text)).toHaveLength(50)
  expect(await writeErrorsInTurns([], REPORT, noTurn)).toEqual({
    text: null,
    first: null,
    last: null,
    isOurFault: false,
  })
})
