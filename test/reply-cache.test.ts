// Tests the cache of finished replies and copies: what is kept, how it is counted, and what is evicted.
import { expect, test } from 'vitest'
import { createResponseCache, uncacheable } from '../src/http/caching/response-cache.ts'
import { liveBytes } from './support/live-bytes.ts'
import { liveSession } from './support/live-session.ts'

const reply = (bytes: number) => ({ status: 200, headers: {}, body: new Uint8Array(bytes) })

test('a reply is found only under its user, state version and operation', () => {
  const cache = createResponseCache(1_000_000)
  const kept = reply(10)
  cache.keep(liveSession(1), 'a', kept)
  expect(cache.find(liveSession(1), 'a')).toBe(kept)
  for (const [who, operation] of [
    [liveSession(2), 'a'],
    [liveSession(1, 'b'), 'a'],
    [liveSession(null), 'a'],
    [liveSession(1), 'b'],
  ] as const) {
    expect(cache.find(who, operation)).toBeUndefined()
  }
})

test('a new state version drops the replies of the previous one', () => {
  const cache = createResponseCache(1_000_000)
  const later = reply(10)
  cache.keep(liveSession(1, 'a'), 'a', reply(10))
  cache.keep(liveSession(1, 'b'), 'b', later)
  expect(cache.find(liveSession(1, 'a'), 'a')).toBeUndefined()
  expect(cache.find(liveSession(1, 'b'), 'a')).toBeUndefined()
  expect(cache.find(liveSession(1, 'b'), 'b')).toBe(later)
})

test('a viewer whose reads spanned two versions keeps nothing, and displaces nothing of the same user', () => {
  const cache = createResponseCache(1_000_000)
  const kept = reply(10)
  const mixed = uncacheable(liveSession(1))
  cache.keep(liveSession(1), 'a', kept)
  cache.keep(mixed, 'b', reply(10))
  for (const operation of ['a', 'b']) expect(cache.find(mixed, operation)).toBeUndefined()
  expect(cache.find(liveSession(1), 'a')).toBe(kept)
  expect(cache.size().entries).toBe(1)
})

test('the cache never exceeds its size, and evicts the replies of users whom nobody asks for', () => {
  const cache = createResponseCache(100_000)
  cache.keep(liveSession(1), 'a', reply(4_000))
  for (let user = 2; user < 500; user += 1) {
    cache.keep(liveSession(user), 'a', reply(4_000))
    expect(cache.find(liveSession(1), 'a')).toBeDefined()
  }
  const found = Array.from({ length: 500 }, (_, user) => cache.find(liveSession(user), 'a')).filter(Boolean)
  expect(found.length).toBeLessThanOrEqual(20)
  expect(found.length).toBeGreaterThan(10)
})

test('the replies of one user evict each other, even the one that was found last', () => {
  const cache = createResponseCache(1_000_000)
  cache.keep(liveSession(2), 'of another', reply(40_000))
  for (const operation of ['a', 'b', 'c']) cache.keep(liveSession(1), operation, reply(40_000))
  for (const operation of ['b', 'c', 'a']) expect(cache.find(liveSession(1), operation), operation).toBeDefined()
  for (const operation of ['d', 'e']) cache.keep(liveSession(1), operation, reply(40_000))
  // These two were found least recently.
  for (const operation of ['b', 'c']) expect(cache.find(liveSession(1), operation), operation).toBeUndefined()
  cache.keep(liveSession(1), 'f', reply(40_000))
  expect(['a', 'd', 'e', 'f'].map((operation) => cache.find(liveSession(1), operation) !== undefined)).toEqual([
    false,
    true,
    true,
    true,
  ])
  for (const operation of ['first', 'b', 'c', 'd']) {
    cache.keep(liveSession(3), operation, reply(40_000))
    if (operation === 'first') expect(cache.find(liveSession(3), operation)).toBeDefined()
  }
  expect(cache.find(liveSession(3), 'first')).toBeUndefined()
  expect(cache.find(liveSession(2), 'of another')).toBeDefined()
  expect(cache.size()).toMatchObject({ entries: 7 })
})

test('a streamed or too large reply is not cached, and a cache without bytes caches nothing', () => {
  const cache = createResponseCache(100_000)
  cache.keep(liveSession(1), 'large', reply(50_000))
  cache.keep(liveSession(1), 'streamed', { ...reply(0), body: (async function* () {})() })
  expect(cache.find(liveSession(1), 'large')).toBeUndefined()
  expect(cache.find(liveSession(1), 'streamed')).toBeUndefined()
  const none = createResponseCache(0)
  none.keep(liveSession(1), 'a', reply(1))
  expect(none.find(liveSession(1), 'a')).toBeUndefined()
})

test('copies and replies share the bytes of the cache', () => {
  const cache = createResponseCache(100_000)
  const bytes = new Uint8Array(10_000)
  const make = (name: string) => {
    if (!cache.reserve(1, bytes.byteLength)) return false
    cache.keepCopy(1, name, { chunks: [bytes], byteLength: bytes.byteLength, isDropped: false })
    return true
  }
  cache.keep(liveSession(1), 'a', reply(4_000))
  for (let copy = 0; copy < 8; copy += 1) expect(make(`copy ${copy}`)).toBe(true)
  expect(cache.find(liveSession(1), 'a')).toBeDefined()
  expect(cache.findCopy('copy 0')?.byteLength).toBe(10_000)
  for (let copy = 8; copy < 100; copy += 1) make(`copy ${copy}`)
  const found = Array.from({ length: 100 }, (_, copy) => cache.findCopy(`copy ${copy}`)).filter(Boolean)
  expect(found.length).toBeLessThanOrEqual(10)
  expect(found.length).toBeGreaterThan(5)
})

test('a cached reply or copy holds no memory besides its own, and copies are counted with their names', async () => {
  const cache = createResponseCache(100_000_000)
  const part = () => new Uint8Array(65_536).fill(7).subarray(100, 700)
  const before = await liveBytes()
  for (let user = 0; user < 400; user += 1) {
    cache.keep(liveSession(user), 'a', { status: 200, headers: {}, body: part() })
    const copy = { chunks: [part()], byteLength: 600, isDropped: false }
    if (cache.reserve(user, 600)) cache.keepCopy(user, `copy ${user}`, copy)
  }
  // They were slices of 52 MB in total.
  expect((await liveBytes()) - before).toBeLessThan(5_000_000)
  expect(cache.find(liveSession(1), 'a')?.body).toEqual(Buffer.alloc(600, 7))
  expect(cache.findCopy('copy 1')?.chunks.map((chunk) => [...chunk].join(''))).toEqual(['7'.repeat(600)])
  const names = Array.from({ length: 1_000 }, (_, copy) => `${copy} ${'x'.repeat(1_000)}`)
  const small = createResponseCache(100_000)
  for (const name of names) {
    if (small.reserve(1, 1)) small.keepCopy(1, name, { chunks: [new Uint8Array(1)], byteLength: 1, isDropped: false })
    expect(small.size().bytes).toBeLessThanOrEqual(100_000)
  }
  expect(small.size().entries).toBeLessThan(50)
  expect(small.findCopy(names.at(-1) ?? '')).toBeDefined()
})

test('at most half of the bytes of the cache are reserved at a time', () => {
  const cache = createResponseCache(100_000)
  expect(cache.reserve(1, 30_000)).toBe(true)
  expect(cache.reserve(1, 30_000)).toBe(false)
  cache.release(30_000)
  expect(cache.reserve(1, 50_000)).toBe(true)
  expect(createResponseCache(0).reserve(1, 1)).toBe(false)
})

/** A reply that takes so many bytes in total, under an operation of one letter. */
const taking = (bytes: number) => reply(bytes - 1_024 - 2)

test('a reply is counted with its operation and its overhead, and only once however often it is kept', () => {
  const cache = createResponseCache(100_000)
  for (let round = 0; round < 2; round += 1) cache.keep(liveSession(1), 'abc', reply(10))
  expect(cache.size()).toEqual({ bytes: 10 + 2 * 3 + 1_024, maxBytes: 100_000, entries: 1 })
  cache.keep(liveSession(1, 'later'), 'a', taking(2_000))
  expect(cache.size()).toMatchObject({ bytes: 2_000, entries: 1 })
  cache.keep(liveSession(null), 'a', reply(10))
  expect(cache.size()).toMatchObject({ bytes: 2_000, entries: 1 })
})

test('one reply fills at most a sixteenth of the cache, one user an eighth, and all users the whole', () => {
  const cache = createResponseCache(160_000)
  cache.keep(liveSession(1), 'a', taking(10_001))
  expect(cache.size().entries).toBe(0)
  for (let user = 1; user <= 8; user += 1) {
    for (const operation of ['a', 'b']) cache.keep(liveSession(user), operation, taking(10_000))
  }
  expect(cache.size()).toMatchObject({ bytes: 160_000, entries: 16 })
  cache.keep(liveSession(8), 'c', taking(2_000))
  expect(cache.size()).toMatchObject({ bytes: 152_000, entries: 16 })
  cache.keep(liveSession(9), 'a', taking(8_001))
  expect(cache.size()).toMatchObject({ bytes: 140_001, entries: 15 })
})

test('a reply that was found again is the last of its user to be evicted, even after another one was added', () => {
  const cache = createResponseCache(160_000)
  cache.keep(liveSession(1), 'a', taking(8_000))
  for (const _ of [1, 2]) expect(cache.find(liveSession(1), 'a')).toBeDefined()
  cache.keep(liveSession(1), 'b', taking(8_000))
  expect(cache.find(liveSession(1), 'a')).toBeDefined()
  cache.keep(liveSession(1), 'c', taking(8_000))
  expect(['a', 'b', 'c'].map((operation) => cache.find(liveSession(1), operation) !== undefined)).toEqual([
    true,
    false,
    true,
  ])
})

test('a full cache of many users evicts some of them together, so that the next few have room', () => {
  const cache = createResponseCache(1_000_000)
  const sizes: number[] = []
  for (let user = 1; user <= 509; user += 1) {
    cache.keep(liveSession(user), 'a', taking(2_000))
    sizes.push(cache.size().entries)
  }
  // The 501st evicts one user for the room that it takes, and a 64th of the others.
  expect(sizes.slice(-11)).toEqual([499, 500, 493, 494, 495, 496, 497, 498, 499, 500, 493])
  expect(cache.find(liveSession(16), 'a')).toBeUndefined()
  expect(cache.find(liveSession(17), 'a')).toBeDefined()
})

test('eviction spares a user whose replies were found, whichever they were, and not a user without a cache hit', () => {
  for (const findings of [['a'], ['a', 'a'], ['a', 'b']]) {
    const cache = createResponseCache(160_000)
    for (const operation of ['a', 'b']) cache.keep(liveSession(1), operation, taking(1_500))
    for (const operation of findings) cache.find(liveSession(1), operation)
    for (let user = 2; user <= 17; user += 1) cache.keep(liveSession(user), 'a', taking(10_000))
    expect(cache.find(liveSession(1), 'a')).toBeDefined()
    expect(cache.find(liveSession(2), 'a')).toBeUndefined()
    expect(cache.find(liveSession(17), 'a')).toBeDefined()
  }
})

test('eviction does not spare a user who asked only for what is not cached', () => {
  const cache = createResponseCache(160_000)
  cache.keep(liveSession(1), 'a', taking(1_500))
  expect(cache.find(liveSession(1), 'other')).toBeUndefined()
  for (let user = 2; user <= 17; user += 1) cache.keep(liveSession(user), 'a', taking(10_000))
  expect(cache.find(liveSession(1), 'a')).toBeUndefined()
  expect(cache.find(liveSession(2), 'a')).toBeDefined()
})

test('eviction spares a copy that is new or was found; a copy under an existing name replaces the old one', () => {
  const cache = createResponseCache(100_000)
  let user = 1
  /** Keeps a copy that takes so many bytes in total. */
  const keep = (name: string, bytes: number) => {
    user += 1
    const byteLength = bytes - 1_024 - name.length * 2
    expect(cache.reserve(user, byteLength)).toBe(true)
    const copy = { chunks: [new Uint8Array(byteLength)], byteLength, isDropped: false }
    cache.keepCopy(user, name, copy)
    return copy
  }
  cache.keep(liveSession(1), 'a', taking(6_000))
  const [first, second] = [keep('first', 40_000), keep('second', 40_000)]
  expect(cache.size()).toEqual({ bytes: 86_000, maxBytes: 100_000, entries: 3 })
  // There is no free room: the reply that nobody asked for is evicted, the copies are spared because they are new.
  const third = keep('third', 20_000)
  expect(cache.size()).toMatchObject({ bytes: 100_000, entries: 3 })
  // All copies are new: the one that was passed over first is evicted.
  keep('fourth', 20_000)
  expect([first.isDropped, second.isDropped, third.isDropped]).toEqual([true, false, false])
  expect(first.chunks).toEqual([])
  // Of the copies that are no longer new, the one that was found is spared.
  expect(cache.findCopy('second')).toBe(second)
  keep('fifth', 40_000)
  expect([second.isDropped, third.isDropped]).toEqual([false, true])
  const again = keep('second', 10_000)
  expect([second.isDropped, cache.findCopy('second')]).toEqual([true, again])
  expect(cache.size()).toMatchObject({ bytes: 70_000, entries: 3 })
  // Now there is room for both.
  keep('second', 10_000)
  expect(again.isDropped).toBe(true)
  expect(cache.size()).toMatchObject({ bytes: 70_000, entries: 3 })
})

test('a user with more copies than the share of one user evicts only their own, once no free space is left', () => {
  const cache = createResponseCache(100_000)
  const keep = (userId: number, name: string) => {
    const byteLength = 10_000
    expect(cache.reserve(userId, byteLength)).toBe(true)
    cache.keepCopy(userId, name, { chunks: [new Uint8Array(byteLength)], byteLength, isDropped: false })
  }
  const isKept = (name: string) => cache.findCopy(name) !== undefined
  cache.keep(liveSession(1), 'a', taking(4_000))
  keep(1, 'of the other')
  for (let copy = 0; copy < 7; copy += 1) keep(2, `${copy}`)
  expect(cache.size().entries).toBe(9)
  expect(isKept('0')).toBe(true)
  for (let copy = 7; copy < 50; copy += 1) {
    keep(2, `${copy}`)
    expect(isKept('0')).toBe(true)
  }
  expect(isKept('of the other')).toBe(true)
  expect(cache.find(liveSession(1), 'a')).toBeDefined()
  expect(isKept('1')).toBe(false)
  expect(isKept('49')).toBe(true)
})
