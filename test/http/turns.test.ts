// What requests share turn by turn: who is next, how much is sent in one turn, and what is held while it is sent.
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createInFlightBytes } from '../../src/http/limits/in-flight-bytes.ts'
import { createRoundRobin, ONE_A_TURN } from '../../src/http/limits/round-robin-scheduler.ts'
import { createSharedBodies } from '../../src/http/limits/shared-bodies.ts'
import { createTurnQuota } from '../../src/http/limits/turn-quota.ts'
import { stopClock } from '../support/stop-clock.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))
const KIB = 1_024

describe('pieces', () => {
  /**
   * Five pieces that take `pieceMs` each. `pass` lets time go by; `turn` returns what was done by the end of a turn.
   */
  function start(pieceMs: number) {
    const pass = stopClock()
    const yieldTurn = createRoundRobin()
    const done: string[] = []
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      void yieldTurn().then(() => {
        done.push(name)
        pass(pieceMs)
      })
    }
    return {
      pass,
      async turn() {
        await turn()
        return done.join('')
      },
    }
  }

  test('run one in a turn if they are long, in the order in which they were asked for', async () => {
    const pieces = start(2)
    for (const done of ['a', 'ab', 'abc', 'abcd', 'abcde']) expect(await pieces.turn()).toBe(done)
    await expect.poll(() => process.getActiveResourcesInfo()).not.toContain('Immediate')
  })

  test('run together for a quarter of a millisecond if they are short', async () => {
    const pieces = start(0.125)
    for (const done of ['ab', 'abcd', 'abcde']) expect(await pieces.turn()).toBe(done)
  })

  test('get a quarter of the time of the rest of a turn, so that none waits forever beside long work', async () => {
    const pieces = start(2)
    pieces.pass(16)
    expect(await pieces.turn()).toBe('ab')
    pieces.pass(14)
    // The turn took sixteen, with the last piece of the turn before.
    expect(await pieces.turn()).toBe('abcd')
    expect(await pieces.turn()).toBe('abcde')
  })

  test('wait while turns only accept connections', async () => {
    let isHolding = true
    const yieldTurn = createRoundRobin(ONE_A_TURN, { isHolding: () => isHolding })
    const done: number[] = []
    for (let name = 1; name <= 2; name += 1) void yieldTurn().then(() => done.push(name))
    for (let turns = 0; turns < 5; turns += 1) await turn()
    expect(done).toEqual([])
    isHolding = false
    await turn()
    expect(done).toEqual([1])
    await turn()
    expect(done).toEqual([1, 2])
  })

  test('run in turns by owner, however many each owner asked for', async () => {
    const yieldTurn = createRoundRobin(ONE_A_TURN)
    const done: string[] = []
    const ask = (name: string) => yieldTurn({ name, isKnown: true }).then(() => void done.push(name))
    await Promise.all([...'aaaaa', 'b', 'c', 'b'].map(ask))
    expect(done.join('')).toBe('abcabaaa')
  })

  test('cost a turn the same, however many wait', async () => {
    const setImmediates = vi.spyOn(globalThis, 'setImmediate')
    onTestFinished(() => setImmediates.mockRestore())
    const yieldTurn = createRoundRobin(ONE_A_TURN)
    const done: number[] = []
    const all = Array.from({ length: 500 }, (_, name) => yieldTurn().then(() => void done.push(name)))
    for (let turns = 1; turns <= 10; turns += 1) {
      await turn()
      expect(done).toHaveLength(turns)
    }
    // This is for ten turns; with one for each piece that waits, it was 500 in each turn.
    expect(setImmediates.mock.calls.length).toBeLessThan(250)
    await Promise.all(all)
    expect(done).toEqual(Array.from({ length: 500 }, (_, name) => name))
  })
})

describe('in one turn', () => {
  test('a limited number of bytes is sent, or one piece of any size, and the rest waits', async () => {
    let waited = 0
    const pace = createTurnQuota(async () => {
      waited += 1
    })
    expect([pace(100 * KIB), pace(28 * KIB)]).toEqual([null, null])
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

  test('short pieces count as if they had a minimum size', async () => {
    const pace = createTurnQuota(async () => {}, { minBytes: 32 * KIB })
    expect([pace(1), pace(1), pace(32 * KIB), pace(0)]).toEqual([null, null, null, null])
    expect(pace(1)).not.toBeNull()
  })
})

test('a body is held once, however many connections it is sent on, and is released with the last', () => {
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
