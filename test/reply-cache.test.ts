import { expect, test } from 'vitest'
import { createReplyCache } from '../src/http/reply-cache.ts'

const viewer = (userId: number | null, revision = 1) => ({ id: 's', email: 'x@example.com', userId, revision })
const reply = (bytes: number) => ({ status: 200, headers: {}, body: new Uint8Array(bytes) })

test('a reply is found under its user, revision and operation only', () => {
  const cache = createReplyCache(1_000_000)
  const kept = reply(10)
  cache.keep(viewer(1), 'a', kept)
  expect(cache.find(viewer(1), 'a')).toBe(kept)
  for (const [who, operation] of [
    [viewer(2), 'a'],
    [viewer(1, 2), 'a'],
    [viewer(1, 0), 'a'],
    [viewer(null), 'a'],
    [viewer(1), 'b'],
  ] as const) {
    expect(cache.find(who, operation)).toBeUndefined()
  }
})

test('a newer revision drops what was kept, and an older one does not come back', () => {
  const cache = createReplyCache(1_000_000)
  const newer = reply(10)
  cache.keep(viewer(1, 1), 'a', reply(10))
  cache.keep(viewer(1, 2), 'b', newer)
  cache.keep(viewer(1, 1), 'a', reply(10))
  expect(cache.find(viewer(1, 1), 'a')).toBeUndefined()
  expect(cache.find(viewer(1, 2), 'a')).toBeUndefined()
  expect(cache.find(viewer(1, 2), 'b')).toBe(newer)
})

test('it never holds more than its bytes, and makes room at the expense of the users nobody asks for', () => {
  const cache = createReplyCache(100_000)
  cache.keep(viewer(1), 'a', reply(4_000))
  for (let user = 2; user < 500; user += 1) {
    cache.keep(viewer(user), 'a', reply(4_000))
    expect(cache.find(viewer(1), 'a')).toBeDefined()
  }
  const found = Array.from({ length: 500 }, (_, user) => cache.find(viewer(user), 'a')).filter(Boolean)
  expect(found.length).toBeLessThanOrEqual(20)
  expect(found.length).toBeGreaterThan(10)
})

test('what is streamed, too large, or of a cache without bytes is not kept', () => {
  const cache = createReplyCache(100_000)
  cache.keep(viewer(1), 'large', reply(50_000))
  cache.keep(viewer(1), 'streamed', { ...reply(0), body: (async function* () {})() })
  expect(cache.find(viewer(1), 'large')).toBeUndefined()
  expect(cache.find(viewer(1), 'streamed')).toBeUndefined()
  const none = createReplyCache(0)
  none.keep(viewer(1), 'a', reply(1))
  expect(none.find(viewer(1), 'a')).toBeUndefined()
})
