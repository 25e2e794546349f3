// Streams that several readers share: whole for each, or broken off for each.
import { expect, test } from 'vitest'
import { createResponseCache } from '../../src/http/caching/response-cache.ts'
import { createSharedStreams } from '../../src/http/compression/shared-streams.ts'

test('a stream that fails after its first bytes breaks off for whoever reads it, and is made anew for the next', async () => {
  const cache = createResponseCache(1_000_000)
  const share = createSharedStreams(cache)
  let made = 0
  async function* produce(): AsyncGenerator<Uint8Array> {
    made += 1
    yield Buffer.from('begun')
    if (made === 1) throw new Error('the rest is gone')
    yield Buffer.from(' and ended')
  }
  const failed = await Promise.allSettled([1, 2].map(() => Array.fromAsync(share('name', produce))))
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(cache.findCopy('name')).toBeUndefined()
  expect(cache.size().bytes).toBe(0)
  expect(Buffer.concat(await Array.fromAsync(share('name', produce))).toString()).toBe('begun and ended')
  expect(made).toBe(2)
  // Whole: it need not be made again.
  expect(Buffer.concat(cache.findCopy('name')?.chunks ?? []).toString()).toBe('begun and ended')
})
