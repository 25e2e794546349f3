// The budget of in-flight bytes: which reservations it grants and which it refuses.
import { expect, test } from 'vitest'
import { GatewayError } from '../src/errors.ts'
import { createInFlightBytes, SMALL_RESERVATION_BYTES } from '../src/http/limits/in-flight-bytes.ts'
import { liveBytes } from './support/live-bytes.ts'

const MIB = 1_048_576

test('a large reservation is refused when the budget is full, and granted after memory was released', () => {
  const inFlight = createInFlightBytes(4 * MIB)
  const first = inFlight.open()
  const second = inFlight.open()
  expect(first.grow(3 * MIB)).toBe(true)
  expect(second.grow(2 * MIB)).toBe(false)
  expect(second.byteLength()).toBe(0)
  expect(inFlight.byteLength()).toBe(3 * MIB)
  first.shrink(MIB)
  expect(second.grow(2 * MIB)).toBe(true)
  expect(second.grow(1)).toBe(false)
  first[Symbol.dispose]()
  first[Symbol.dispose]()
  expect(inFlight.byteLength()).toBe(2 * MIB)
})

test('nothing is kept of users whose reservations were disposed of', async () => {
  const inFlight = createInFlightBytes(4 * MIB)
  const before = await liveBytes()
  for (let userId = 0; userId < 1_000_000; userId += 1) {
    using reservation = inFlight.open(undefined, userId)
    reservation.grow(1)
  }
  expect((await liveBytes()) - before).toBeLessThan(8_000_000)
  // Uses the budget again: if it were collected, it would hold nothing.
  expect(inFlight.byteLength()).toBe(0)
})

test('a small reservation may exceed a full budget, but only while it stays small', () => {
  const inFlight = createInFlightBytes(MIB)
  inFlight.open().require(MIB)
  const small = inFlight.open()
  expect(small.grow(SMALL_RESERVATION_BYTES)).toBe(true)
  expect(small.grow(1)).toBe(false)
  expect(inFlight.byteLength()).toBe(MIB + SMALL_RESERVATION_BYTES)
})

test('when little room is left, large reservations keep growing and small ones stay small', () => {
  const inFlight = createInFlightBytes(8 * MIB)
  const [large, small] = [inFlight.open(), inFlight.open()]
  small.require(SMALL_RESERVATION_BYTES)
  large.require(7 * MIB)
  expect(small.grow(1)).toBe(true)
  small.shrink(1)
  large.require(1)
  expect(small.grow(1)).toBe(false)
  expect(large.grow(MIB / 2)).toBe(true)
  // A reservation that never counts as small may take the room that is left.
  expect(inFlight.open(0).grow(MIB / 8)).toBe(true)
})

test('several requests of one user leave half of the budget to others; a single request may take all of it', () => {
  const inFlight = createInFlightBytes(8 * MIB)
  const [first, second] = [inFlight.open(undefined, 1), inFlight.open(undefined, 1)]
  first.require(3 * MIB)
  expect(second.grow(2 * MIB)).toBe(false)
  expect(second.grow(MIB)).toBe(true)
  expect(first.grow(1)).toBe(false)
  const other = inFlight.open(undefined, 2)
  expect(other.grow(3 * MIB)).toBe(true)
  other[Symbol.dispose]()
  second.shrink(MIB - SMALL_RESERVATION_BYTES)
  // A small reservation beside it does not count.
  expect(first.grow(4 * MIB)).toBe(true)
  second[Symbol.dispose]()
  first[Symbol.dispose]()
  expect(inFlight.byteLength()).toBe(0)
})

test('when little is left of the share of a user, none of the user’s small reservations becomes large', () => {
  const inFlight = createInFlightBytes(8 * MIB)
  const [first, second] = [inFlight.open(undefined, 1), inFlight.open(undefined, 1)]
  first.require(3.6 * MIB)
  expect(second.grow(SMALL_RESERVATION_BYTES)).toBe(true)
  expect(second.grow(1)).toBe(false)
  const other = inFlight.open(undefined, 2)
  expect(other.grow(MIB)).toBe(true)
  other[Symbol.dispose]()
  first.shrink(MIB)
  expect(second.grow(MIB)).toBe(true)
})

test('a refusal is UNAVAILABLE with a time to retry after', () => {
  const reservation = createInFlightBytes(0).open()
  let refusal: unknown
  try {
    reservation.require(SMALL_RESERVATION_BYTES + 1)
  } catch (error) {
    refusal = error
  }
  expect(refusal).toBeInstanceOf(GatewayError)
  expect(refusal).toMatchObject({ code: 'UNAVAILABLE', retryAfterSeconds: 1 })
})

test('a reservation gives back no more than it took, and cannot grow after it was disposed', () => {
  const inFlight = createInFlightBytes(MIB)
  const reservation = inFlight.open()
  reservation.require(10)
  reservation.shrink(100)
  expect([reservation.byteLength(), inFlight.byteLength()]).toEqual([0, 0])
  reservation[Symbol.dispose]()
  expect(() => reservation.grow(1)).toThrow()
})
