// What one request may use, both when all requests together leave room and when they do not.
import { expect, test } from 'vitest'
import { createInFlightBytes } from '../../src/http/limits/in-flight-bytes.ts'
import { createRequestBudget, RequestAborted, UNLIMITED } from '../../src/resolvers/request-budget.ts'

const MIB = 1_048_576

function codeOf(run: () => void): string | null {
  try {
    run()
    return null
  } catch (error) {
    if (!(error instanceof RequestAborted)) throw error
    return error.code
  }
}

test('a request that needs more memory than is free is answered UNAVAILABLE, and reserves no more', () => {
  const inFlight = createInFlightBytes(MIB)
  inFlight.open().require(MIB)
  using reservation = inFlight.open()
  const budget = createRequestBudget(UNLIMITED, reservation)
  expect(codeOf(() => budget.read(200_000))).toBeNull()
  expect(codeOf(() => budget.read(200_000))).toBe('UNAVAILABLE')
  expect(inFlight.byteLength()).toBeLessThan(MIB + 300_000)
})

test('memory that is let go makes room for the next read; the total of all reads is bounded too', () => {
  using reservation = createInFlightBytes(MIB).open()
  const limits = { ...UNLIMITED, maxHeldLength: 1_000, maxReadLength: 2_500 }
  const budget = createRequestBudget(limits, reservation)
  budget.read(1_000)
  budget.letGo(1_000)
  budget.read(1_000)
  expect(codeOf(() => budget.read(1))).toBe('RESPONSE_TOO_LARGE')
  budget.letGo(1_001)
  expect(codeOf(() => budget.read(499))).toBeNull()
  expect(codeOf(() => budget.read(1))).toBe('RESPONSE_TOO_LARGE')
})

test('the number of objects and the length of the answer are bounded at their limits', () => {
  using reservation = createInFlightBytes(MIB).open()
  const few = createRequestBudget({ ...UNLIMITED, maxObjects: 2 }, reservation)
  for (let object = 0; object < 2; object += 1) few.addObject(1)
  expect(codeOf(() => few.addObject(1))).toBe('RESPONSE_TOO_LARGE')
  const short = createRequestBudget({ ...UNLIMITED, maxResponseLength: 30 }, reservation)
  short.addObject(10)
  short.addText(10)
  short.addStream(10)
  for (const add of [short.addObject, short.addText, short.addStream])
    expect(codeOf(() => add(1))).toBe('RESPONSE_TOO_LARGE')
})

test('memory is reserved in steps of 64 KiB, and only once a step is full', () => {
  const STEP = 65_536
  using reservation = createInFlightBytes(MIB).open()
  const budget = createRequestBudget(UNLIMITED, reservation)
  const taken = (use: () => void) => {
    use()
    return reservation.byteLength() / STEP
  }
  expect(taken(() => budget.read(10))).toBe(0)
  expect(taken(() => budget.addText(STEP - 10))).toBe(0)
  expect(taken(() => budget.addObject(1))).toBe(2)
  expect(taken(() => budget.read(2 * STEP - 1))).toBe(2)
  expect(taken(() => budget.read(1))).toBe(4)
  expect(taken(() => budget.read(4 * STEP))).toBe(8)
  expect(taken(() => budget.letGo(8 * STEP))).toBe(8)
  expect(taken(() => budget.read(8 * STEP))).toBe(8)
  expect(taken(() => budget.addStream(8 * STEP))).toBe(8)
})
