// What is shared among requests turn by turn: who is next, how much goes out in one turn, and what is held while it is sent.
import { describe, expect, test } from 'vitest'
import { createInFlightBytes } from '../../src/http/limits/in-flight-bytes.ts'
import { createRoundRobin } from '../../src/http/limits/round-robin-scheduler.ts'
import { createSharedBodies } from '../../src/http/limits/shared-bodies.ts'
import { createTurnQuota } from '../../src/http/limits/turn-quota.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))
const KIB = 1_024

test('one piece goes in each turn, in the order in which they were asked for, and nothing runs when none waits', async () => {
  const yieldTurn = createRoundRobin()
  for (let round = 0; round < 2; round += 1) {
    const done: string[] = []
    for (const name of ['a', 'b', 'c']) void yieldTurn().then(() => done.push(name))
    await turn()
    for (const expected of [['a'], ['a', 'b'], ['a', 'b', 'c']]) {
      expect(done).toEqual(expected)
      await turn()
    }
  }
  await expect.poll(() => process.getActiveResourcesInfo()).not.toContain('Immediate')
})

describe('in one turn', () => {
  test('so many bytes go at once, or one piece however large, and the rest waits', async () => {
    let waited = 0
    const pace = createTurnQuota(async () => {
      waited += 1
    })
    expect([pace(200 * KIB), pace(56 * KIB)]).toEqual([null, null])
    await pace(1)
    expect(waited).toBe(1)
    await turn()
    await turn()
    expect(pace(1_000 * KIB)).toBeNull()
    expect(pace(1)).not.toBeNull()
    await turn()
    await turn()
    expect(pace(1)).toBeNull()
    expect(waited).toBe(2)
  })
})

test('a body is held once on however many connections it is sent, and given back with the last', () => {
  const inFlight = createInFlightBytes(1_000_000)
  const hold = createSharedBodies(inFlight)
  const [body, other] = [new Uint8Array(600_000), new Uint8Array(600_000)]
  const [first, second] = [hold(body), hold(body)]
  expect(inFlight.byteLength()).toBe(600_000)
  expect(() => hold(other)).toThrow('memory')
  first[Symbol.dispose]()
  expect(inFlight.byteLength()).toBe(600_000)
  second[Symbol.dispose]()
  expect(inFlight.byteLength()).toBe(0)
  using _ = hold(body)
  expect(inFlight.byteLength()).toBe(600_000)
})
