// Admission under load: how many requests begin in a turn of a simulated event loop, in which order, and
// which are refused.
import { expect, test } from 'vitest'
import { createAccepting } from '../src/http/limits/accepting.ts'
import { createAdmission } from '../src/http/limits/admission.ts'
import { createRefusals } from '../src/http/limits/refusals.ts'

interface Outcome {
  readonly name: number
  readonly owner: string
  readonly hasBegun: boolean
  readonly waitedMs: number
}

const toOwner = (name: string) => ({ name, isKnown: !name.startsWith('stranger') })

/** A simulated event loop: a turn takes as long as what began in it, or as long as the caller says. */
function simulate({ maxDelayMs = 50, millisecondsEach = 0.1 } = {}) {
  const changes: (readonly [isRefusing: boolean, refused: number])[] = []
  const delays: number[] = []
  const outcomes: Outcome[] = []
  let [now, named, begunInTurn] = [0, 0, 0]
  let turns: (() => void)[] = []
  let timers: { readonly at: number; readonly run: () => void }[] = []
  const loop = { now: () => now, nextTurn: (run: () => void) => void turns.push(run) }
  const accepting = createAccepting(loop)
  const admission = createAdmission({
    ...loop,
    accepting,
    maxDelayMs,
    later: (run, milliseconds) => timers.push({ at: now + milliseconds, run }),
    onDelay: (delay) => delays.push(delay),
    onChange: (...change) => changes.push(change),
  })

  function settle(asked: { name: number; owner: string }, since: number, hasBegun: boolean): void {
    if (hasBegun) begunInTurn += 1
    outcomes.push({ ...asked, hasBegun, waitedMs: now - since })
  }

  function arrive(count: number, isFirstOfConnection = false, owner = 'ana', places = 1): void {
    const arrival = { places, isFirstOfConnection }
    for (let n = 0; n < count; n += 1) {
      const asked = { name: named++, owner }
      const since = now
      if (admission.tryBegin(arrival)) settle(asked, since, true)
      else void admission.wait(toOwner(owner), arrival).then((cameTo) => settle(asked, since, cameTo === 'begins'))
    }
  }

  /** Returns how many requests began since the turn before. */
  async function turn(milliseconds?: number): Promise<number> {
    const begun = begunInTurn
    begunInTurn = 0
    now += milliseconds ?? 0.05 + begun * millisecondsEach
    const due = timers.filter(({ at }) => at <= now)
    timers = timers.filter(({ at }) => at > now)
    for (const { run } of due) run()
    const ready = turns
    turns = []
    for (const run of ready) run()
    // A request that waits learns its outcome in a microtask.
    await new Promise((resolve) => setImmediate(resolve))
    return begun
  }

  return {
    arrive,
    /** From as many owners as there are requests, up to a hundred. */
    arriveFromMany(count: number): void {
      for (let n = 0; n < count; n += 1) arrive(1, false, `owner ${n % 100}`)
    },
    isQueueOfFew: admission.isQueueOfFew,
    connect: accepting.onConnection,
    turn,
    changes,
    delays,
    outcomes,
    now: () => now,
    isIdle: () => turns.length === 0,
    /** So many requests arrive in each millisecond, for so many milliseconds, from so many owners in turn. */
    async flood(
      perMs: number,
      milliseconds: number,
      { owners = 1, kind = 'owner', isFirstOfConnection = false, beside = () => {} } = {},
    ) {
      const end = now + milliseconds
      for (let due = 0; now < end; ) {
        const before = now
        await turn()
        due += (now - before) * perMs
        for (let place = 0; due >= 1; due -= 1, place += 1) {
          // Behind the requests that begin at once, and those that begin next if no owner comes before another.
          if (place === 80) beside()
          if (isFirstOfConnection) accepting.onConnection()
          arrive(1, isFirstOfConnection, `${kind} ${named % owners}`)
        }
      }
    },
  }
}

const begunOf = (outcomes: readonly Outcome[]) => outcomes.filter(({ hasBegun }) => hasBegun)
const refusedOf = (outcomes: readonly Outcome[]) => outcomes.filter(({ hasBegun }) => !hasBegun)

test('64 requests begin in a turn, and the rest in the turns that follow, in the order of arrival', async () => {
  const { arrive, turn, outcomes, isIdle } = simulate({ millisecondsEach: 0.02 })
  arrive(100)
  expect(outcomes).toHaveLength(64)
  await turn()
  expect(outcomes).toHaveLength(100)
  arrive(40)
  // One of the 65 began at once, because no request of its owner waited.
  expect(outcomes).toHaveLength(65 + 64)
  for (let n = 0; n < 4; n += 1) await turn()
  expect(outcomes.map(({ name }) => name)).toEqual(Array.from({ length: 140 }, (_, name) => name))
  expect(refusedOf(outcomes)).toEqual([])
  expect(isIdle()).toBe(true)
})

test('without requests, no turn is scheduled', async () => {
  const { arrive, turn, isIdle } = simulate()
  expect(isIdle()).toBe(true)
  for (let round = 0; round < 2; round += 1) {
    arrive(1)
    expect(isIdle()).toBe(false)
    await turn()
    expect(isIdle()).toBe(true)
  }
})

test('every request of a burst is answered, however late', async () => {
  const { arrive, turn, outcomes, changes } = simulate()
  arrive(1_000)
  for (let n = 0; n < 80; n += 1) await turn()
  expect(begunOf(outcomes)).toHaveLength(1_000)
  expect(Math.max(...outcomes.map(({ waitedMs }) => waitedMs))).toBeGreaterThan(50)
  expect(changes).toEqual([])
})

test('fewer requests begin in long turns, but not too few, and more again when turns are short', async () => {
  const { arriveFromMany, turn } = simulate({ millisecondsEach: 0.25 })
  arriveFromMany(3_000)
  const begun: number[] = []
  for (let n = 0; n < 6; n += 1) begun.push(await turn())
  // In the second turn, four more began at once, because no request of their owner waited.
  expect(begun).toEqual([64, 11 + 4, 8, 10, 13, 11])
  const other = simulate()
  other.arriveFromMany(700)
  await other.turn(1_000)
  begun.length = 0
  for (let n = 0; n < 8; n += 1) begun.push(await other.turn(1))
  expect(begun).toEqual([8 + 4, 10, 13, 17, 22, 28, 35, 44])
})

test('while only a few owners wait, turns are half as long, and as long as for many under overload', async () => {
  const { arrive, turn, changes } = simulate({ millisecondsEach: 0.25 })
  arrive(3_000)
  const begun: number[] = []
  for (let n = 0; n < 6; n += 1) begun.push(await turn())
  expect(begun).toEqual([64, 6, 4, 5, 7, 5])
  while (changes.length === 0) await turn()
  begun.length = 0
  for (let n = 0; n < 20; n += 1) {
    arrive(50)
    begun.push(await turn())
  }
  expect(Math.min(...begun.slice(10))).toBeGreaterThan(8)
})

test('beside a few owners with too many requests, one with as many as a page sends is not refused', async () => {
  const { arrive, turn, outcomes, changes } = simulate({ millisecondsEach: 0.25 })
  for (let n = 0; n < 1_000; n += 1) {
    arrive(40, false, 'ana')
    arrive(40, false, 'cyd')
    if (n % 50 === 0) arrive(16, false, 'ben')
    await turn()
  }
  expect(changes).toEqual([[true, 0]])
  const ofBen = outcomes.filter(({ owner }) => owner === 'ben')
  expect(ofBen.map(({ hasBegun }) => hasBegun)).toEqual(Array(320).fill(true))
  expect(refusedOf(outcomes).length).toBeGreaterThan(10_000)
})

test('after turns that begin little, no more begin in a turn than before', async () => {
  const { arrive, turn } = simulate({ millisecondsEach: 0.25 })
  arrive(64)
  await turn()
  arrive(64)
  const begun: number[] = []
  for (let n = 0; n < 30; n += 1) begun.push(await turn())
  const usual = Math.max(...begun.slice(2))
  for (let n = 0; n < 30; n += 1) {
    arrive(1)
    await turn()
  }
  arrive(64)
  expect(await turn()).toBeLessThanOrEqual(usual + 1)
})

test('a queue of a few owners is told from an empty one and from one of many', () => {
  const { arrive, arriveFromMany, isQueueOfFew } = simulate()
  arrive(64)
  expect(isQueueOfFew()).toBe(false)
  arrive(2)
  expect(isQueueOfFew()).toBe(true)
  arriveFromMany(1_000)
  expect(isQueueOfFew()).toBe(false)
})

test('fewer long requests begin in a turn: as many as fill its places', async () => {
  const { arrive, turn, outcomes } = simulate({ millisecondsEach: 0.04 })
  arrive(40, false, 'ana', 23)
  const begun: number[] = []
  for (let n = 0; n < 4; n += 1) begun.push(await turn())
  // In the second turn, one more began at once, because no request of its owner waited.
  expect(begun).toEqual([3, 4, 3, 3])
  arrive(10, false, 'ben')
  const since = outcomes.length
  for (let n = 0; n < 2; n += 1) await turn()
  // The short requests of another owner have their turns beside them, the first one at once.
  expect(
    outcomes
      .slice(since)
      .map(({ owner }) => owner)
      .join(' '),
  ).toBe('ben ana ben ana ben ana ben ana ben ana ben ana')
  for (let n = 0; n < 12; n += 1) await turn()
  expect(begunOf(outcomes)).toHaveLength(50)
})

test('few long requests begin in a turn, also under overload', async () => {
  const { arrive, turn, outcomes, changes } = simulate({ millisecondsEach: 10 })
  const begun: number[] = []
  for (let n = 0; n < 200; n += 1) {
    arrive(3, false, 'ana', 23)
    const count = await turn()
    if (changes.length > 0) begun.push(count)
  }
  expect(begun.length).toBeGreaterThan(100)
  expect(new Set(begun.slice(20))).toEqual(new Set([1]))
  expect(refusedOf(outcomes).length).toBeGreaterThan(200)
})

test('turns that are long for other reasons begin as many requests as come', async () => {
  const { arrive, turn, outcomes } = simulate()
  for (let n = 0; n < 10; n += 1) {
    arrive(60)
    await turn(40)
  }
  expect(outcomes.every(({ waitedMs }) => waitedMs === 0)).toBe(true)
})

test('at three times the capacity, most of the capacity is still used in time, and the rest is refused', async () => {
  const { flood, outcomes, changes } = simulate()
  await flood(30, 2_000)
  await flood(0, 2_000)
  const late = outcomes.filter(({ name }) => name > 6_000)
  const begun = begunOf(late)
  // They begin in the turn after their arrival, or not at all.
  expect(Math.max(...begun.map(({ waitedMs }) => waitedMs))).toBeLessThan(8)
  expect(begun.length).toBeGreaterThan(15_000)
  expect(refusedOf(late).length).toBeGreaterThan(30_000)
  // All requests but a few have an outcome.
  expect(outcomes.length).toBeGreaterThan(59_900)
  expect(changes[0]).toEqual([true, 0])
})

test('refusing ends a second after the last refusal, and the number of refusals is reported', async () => {
  const { flood, turn, outcomes, changes, now } = simulate()
  await flood(30, 500)
  await flood(1, 700)
  const refusals = refusedOf(outcomes).length
  expect(refusals).toBeGreaterThan(0)
  expect(changes).toEqual([[true, 0]])
  const calmDown = async (milliseconds: number) => {
    const until = now() + milliseconds
    while (now() < until) await turn(10)
  }
  await calmDown(1_300)
  expect(changes).toEqual([
    [true, 0],
    [false, refusals],
  ])
  await flood(30, 500)
  expect(changes).toHaveLength(3)
  await calmDown(3_000)
  // Those of this time alone.
  expect(changes[3]).toEqual([false, refusedOf(outcomes).length - refusals])
})

test('as many requests as a busy client has connections wait, however long it takes', async () => {
  const { arrive, turn, outcomes, changes } = simulate({ millisecondsEach: 20 })
  arrive(128)
  // Each answer is followed by another request.
  for (let n = 0; n < 200; n += 1) arrive(await turn())
  expect(refusedOf(outcomes)).toEqual([])
  expect(Math.max(...outcomes.map(({ waitedMs }) => waitedMs))).toBeGreaterThan(1_000)
  arrive(100)
  for (let n = 0; n < 100; n += 1) await turn()
  expect(refusedOf(outcomes).length).toBeGreaterThan(80)
  expect(changes[0]).toEqual([true, 0])
})

test('a load below the capacity is never refused', async () => {
  const { flood, outcomes, changes } = simulate()
  await flood(7, 2_000)
  expect(refusedOf(outcomes)).toEqual([])
  expect(changes).toEqual([])
})

test('requests that are slow all the time still get through', async () => {
  const { flood, outcomes } = simulate({ millisecondsEach: 500 })
  await flood(0.01, 60_000)
  expect(begunOf(outcomes).length).toBeGreaterThan(60)
})

test('while connections come and requests wait, turns only accept connections for a while', async () => {
  const { arrive, connect, turn, outcomes } = simulate()
  arrive(300)
  const begun: number[] = []
  for (let n = 0; n < 12; n += 1) {
    // These connections send nothing.
    connect()
    await turn(1)
    begun.push(outcomes.length)
  }
  // 64 and one began at once, 64 in each of the first two turns, and the next after four milliseconds.
  expect(begun.slice(0, 8)).toEqual([129, ...Array(5).fill(193), 257, 257])
})

test('as soon as a turn accepts no connection, requests that wait begin again', async () => {
  const { arrive, connect, turn, outcomes } = simulate()
  arrive(300)
  for (let n = 0; n < 3; n += 1) {
    connect()
    await turn(1)
  }
  const held = outcomes.length
  expect(held).toBeLessThan(300)
  for (let n = 0; n < 2; n += 1) await turn(1)
  expect(outcomes.length).toBeGreaterThan(held)
})

test('after a long turn, connections are accepted for as long as it took', async () => {
  const { arrive, connect, turn, outcomes } = simulate()
  arrive(300)
  const turns = [1, 30, ...Array(40).fill(1)]
  const begun: number[] = []
  for (const milliseconds of turns) {
    connect()
    await turn(milliseconds)
    begun.push(outcomes.length)
  }
  // With fewer in a turn, since it was long.
  expect(begun.slice(0, 33)).toEqual([129, ...Array(31).fill(133), 138])
})

test('requests of strangers wait while turns only accept connections, and those of known owners begin at once', async () => {
  const { arrive, connect, turn, outcomes } = simulate()
  const begun: number[] = []
  for (let n = 0; n < 12; n += 1) {
    connect()
    if (n > 0) arrive(1, true)
    arrive(1, false, `stranger ${n}`)
    await turn(1)
    begun.push(outcomes.length)
  }
  // When the first connection comes, nobody knows of those behind it.
  expect(begun).toEqual([1, 3, 3, 3, 3, 11, 13, 13, 13, 13, 21, 23])
  for (let n = 0; n < 3; n += 1) {
    connect()
    arrive(1, false, `owner ${n}`)
    await Promise.resolve()
    expect(outcomes.at(-1)?.owner).toBe(`owner ${n}`)
    await turn(1)
  }
})

test('the request of a connection that comes alone begins at once', async () => {
  const { arrive, connect, turn, outcomes, isIdle } = simulate()
  for (let n = 1; n <= 5; n += 1) {
    connect()
    await turn()
    arrive(1, true)
    expect(outcomes).toHaveLength(n)
    await turn()
    expect(isIdle()).toBe(true)
  }
})

test('an owner of many requests waits behind itself: others take turns with it, in the order of arrival', async () => {
  const { arrive, turn, outcomes } = simulate({ millisecondsEach: 0.02 })
  arrive(1_000)
  arrive(4, false, 'ben')
  arrive(2, false, 'eve')
  await turn()
  const names = outcomes.slice(64).map(({ name }) => name)
  // One request of each owner begins at once.
  expect(names.slice(0, 3)).toEqual([64, 1_000, 1_004])
  expect(names).toHaveLength(3 + 64)
  expect(names.slice(3, 10)).toEqual([65, 1_001, 1_005, 66, 1_002, 67, 1_003])
  expect(names.slice(10, 13)).toEqual([68, 69, 70])
})

test('in each turn, a few owners without waiting requests begin at once, but none on a new connection', async () => {
  const { arrive, turn, outcomes } = simulate({ millisecondsEach: 0.04 })
  arrive(1_000)
  const others = () => outcomes.filter(({ owner }) => owner !== 'ana').map(({ owner }) => owner)
  for (let n = 0; n < 20; n += 1) arrive(1, false, `owner ${n}`)
  await Promise.resolve()
  // The request of Ana is the first of four.
  expect(others()).toEqual(['owner 0', 'owner 1', 'owner 2'])
  await turn()
  await turn()
  expect(others()).toHaveLength(20)
  arrive(1, true, 'new')
  await Promise.resolve()
  expect(others()).toHaveLength(20)
  await turn()
  arrive(2, false, 'known')
  await Promise.resolve()
  expect(others().slice(20)).toEqual(['new', 'known'])
})

test.each([
  [30, 1],
  [30, 1_000],
  [12, 200],
])(
  'with %d requests in the time of ten, of %d owners, the latest begin first, and the oldest are refused',
  async (perMs, owners) => {
    const { flood, outcomes } = simulate()
    await flood(perMs, 4_000, { owners })
    const late = outcomes.filter(({ name }) => name > 15_000)
    const begun = begunOf(late).map(({ waitedMs }) => waitedMs)
    const refused = refusedOf(late).map(({ waitedMs }) => waitedMs)
    expect(begun.toSorted((a, b) => a - b)[Math.floor(begun.length * 0.99)]).toBeLessThan(15)
    expect(refused.length).toBeGreaterThan(1_000)
    expect(Math.min(...refused)).toBeGreaterThan(5)
  },
)

test('beside ten thousand strangers from different networks, a known owner is answered as if alone', async () => {
  const { flood, arrive, outcomes } = simulate()
  await flood(40, 4_000, { owners: 10_000, kind: 'stranger', beside: () => arrive(1, false, 'ana') })
  const late = outcomes.filter(({ name }) => name > 40_000)
  const ofAna = late.filter(({ owner }) => owner === 'ana')
  expect(refusedOf(ofAna)).toEqual([])
  expect(ofAna.length).toBeGreaterThan(100)
  expect(Math.max(...ofAna.map(({ waitedMs }) => waitedMs))).toBeLessThan(15)
  const strangers = late.filter(({ owner }) => owner !== 'ana')
  expect(begunOf(strangers).length / strangers.length).toBeGreaterThan(0.15)
})

test('beside more known owners than can be answered, a stranger is answered too', async () => {
  const { flood, arrive, outcomes } = simulate()
  await flood(40, 4_000, { owners: 10_000, beside: () => arrive(1, false, 'stranger') })
  const ofStranger = outcomes.filter(({ name, owner }) => name > 40_000 && owner === 'stranger')
  expect(ofStranger.length).toBeGreaterThan(100)
  expect(refusedOf(ofStranger)).toEqual([])
})

test('at twice the capacity on ever new connections, more than a quarter is still answered', async () => {
  const { flood, outcomes } = simulate()
  await flood(20, 4_000, { owners: 1_000, isFirstOfConnection: true })
  const late = outcomes.filter(({ name }) => name > 20_000)
  expect(begunOf(late).length / late.length).toBeGreaterThan(0.25)
})

test('refusals are made beside the work, a few in each turn, and all within two seconds', async () => {
  const { arrive, turn, outcomes, changes } = simulate()
  arrive(8_000)
  while (changes.length === 0) await turn()
  const perTurn: number[] = []
  for (let milliseconds = 0; milliseconds < 2_000; milliseconds += 1) {
    const before = refusedOf(outcomes).length
    await turn(1)
    perTurn.push(refusedOf(outcomes).length - before)
  }
  expect(Math.max(...perTurn)).toBeGreaterThan(2)
  expect(Math.max(...perTurn)).toBeLessThan(10)
  expect(outcomes).toHaveLength(8_000)
})

test('once all of many are refused, a few are refused as slowly as if there had been no others', () => {
  const refusals = createRefusals()
  const add = (count: number) => {
    for (let n = 0; n < count; n += 1) refusals.add(() => {})
  }
  add(2_000)
  refusals.refuseSome(2_000, 0)
  expect(refusals.length()).toBe(0)
  refusals.refuseSome(20, 0)
  add(10)
  refusals.refuseSome(20, 0)
  expect(refusals.length()).toBe(9)
})

test('a small excess over the capacity is refused soon', async () => {
  const { flood, outcomes } = simulate()
  await flood(11, 4_000, { owners: 1_000 })
  const refused = refusedOf(outcomes).map(({ waitedMs }) => waitedMs)
  expect(refused.length).toBeGreaterThan(1_000)
  expect(refused.toSorted((a, b) => a - b)[Math.floor(refused.length / 2)]).toBeLessThan(500)
})

test('when there is too much, the owners with most requests in the line are refused', async () => {
  const { flood, arrive, turn, outcomes } = simulate()
  await flood(30, 500)
  const before = refusedOf(outcomes).length
  arrive(400)
  arrive(10, false, 'ben')
  for (let n = 0; n < 200; n += 1) await turn()
  expect(refusedOf(outcomes).length).toBeGreaterThan(before)
  const ofBen = outcomes.filter(({ owner }) => owner === 'ben')
  expect(ofBen.map(({ hasBegun }) => hasBegun)).toEqual(Array(10).fill(true))
  // Two begin in each round, from the next turn on.
  expect(Math.max(...ofBen.map(({ waitedMs }) => waitedMs))).toBeLessThan(15)
})

test('the waiting time of each request is reported when it begins', async () => {
  const { arrive, turn, delays } = simulate()
  arrive(67)
  expect(delays).toEqual(Array(65).fill(0))
  await turn(5)
  expect(delays.slice(65)).toEqual([5, 5])
})

test('under overload, a request whose client leaves the line does not begin, takes no place, and is not reported twice', async () => {
  const turns: (() => void)[] = []
  const delays: number[] = []
  let isHolding = true
  let now = 0
  const admission = createAdmission({
    accepting: { isHolding: () => isHolding },
    maxDelayMs: 50,
    now: () => now,
    nextTurn: (run) => turns.push(run),
    later() {},
    onDelay: (delay) => delays.push(delay),
    onChange() {},
  })
  const leaves: (() => void)[] = []
  const first = { places: 1, isFirstOfConnection: true }
  const wait = () => admission.wait(toOwner('ana'), first, (leave) => leaves.push(leave))
  const early = wait()
  // Before there is overload, there is time to answer a client that may only have closed its side of the connection.
  expect(leaves).toEqual([])
  for (now of [100, 400]) turns.shift()?.()
  isHolding = false
  const both = [wait(), wait()]
  leaves[0]?.()
  expect(await both[0]).toBe('left')
  turns.shift()?.()
  expect(await Promise.all([early, both[1]])).toEqual(['begins', 'begins'])
  for (const leave of leaves) leave()
  expect(delays.toSorted()).toEqual([0, 400])
  expect(admission.tryBegin({ ...first, isFirstOfConnection: false })).toBe(true)
})
