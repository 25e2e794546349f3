// Streams that several readers share: whole for each, or broken off for each.
import { expect, test } from 'vitest'
import { createResponseCache } from '../../src/http/caching/response-cache.ts'
import { createSharedStreams } from '../../src/http/compression/shared-streams.ts'

test('a stream that fails after its first bytes breaks off for whoever reads it, and is made anew for the next', async () => {
  const share = createSharedStreams(createResponseCache(1_000_000))
  let made = 0
  async function* produce(): AsyncGenerator<Uint8Array> {
    made += 1
    yield Buffer.from('begun')
    if (made === 1) throw new Error('the rest is gone')
    yield Buffer.from(' and ended')
  }
  const failed = await Promise.allSettled([1, 2].map(() => Array.fromAsync(share('name', produce))))
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(Buffer.concat(await Array.fromAsync(share('name', produce))).toString()).toBe('begun and ended')
  expect(made).toBe(2)
})
