// Streams that several readers share: whole for each reader, or broken off for each.
import { expect, test } from 'vitest'
import { dropCopy } from '../../src/http/caching/copy-cache.ts'
import { createResponseCache } from '../../src/http/caching/response-cache.ts'
import { createSharedStreams, readCopy } from '../../src/http/compression/shared-streams.ts'

test('a stream that fails midway breaks off for every reader, and is made again for the next', async () => {
  const cache = createResponseCache(1_000_000)
  const share = createSharedStreams(cache)
  let made = 0
  async function* produce(): AsyncGenerator<Uint8Array> {
    made += 1
    yield Buffer.from('begun')
    if (made === 1) throw new Error('the rest is gone')
    yield Buffer.from(' and ended')
  }
  const failed = await Promise.allSettled([1, 2].map(() => Array.fromAsync(share(1, 'name', produce))))
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(cache.findCopy('name')).toBeUndefined()
  expect(cache.size().bytes).toBe(0)
  expect(Buffer.concat(await Array.fromAsync(share(1, 'name', produce))).toString()).toBe('begun and ended')
  expect(made).toBe(2)
  // The cache holds all of it, so it need not be made again.
  expect(Buffer.concat(cache.findCopy('name')?.chunks ?? []).toString()).toBe('begun and ended')
})

const ROOM = 1_000_000
const text = (chunks: readonly Uint8Array[]) => Buffer.concat(chunks).toString()

/**
 * A source that gives each chunk when it is told to, and counts how often it began and ended, and the chunks it gave.
 */
function source(...chunks: readonly string[]) {
  const counts = { begun: 0, given: 0, left: 0 }
  const gates = chunks.map(() => Promise.withResolvers<void>())
  return {
    counts,
    open: (at: number) => gates[at]?.resolve(),
    openAll: () => {
      for (const gate of gates) gate.resolve()
    },
    async *produce(): AsyncGenerator<Uint8Array> {
      counts.begun += 1
      try {
        for (const [at, chunk] of chunks.entries()) {
          await gates[at]?.promise
          counts.given += 1
          yield Buffer.from(chunk)
        }
      } finally {
        counts.left += 1
      }
    },
  }
}

test('each chunk is made once and read as soon as it is made, also by a reader who came later', async () => {
  const share = createSharedStreams(createResponseCache(ROOM))
  const { produce, open, counts } = source('one ', 'two')
  const first = share(1, 'name', produce)[Symbol.asyncIterator]()
  open(0)
  expect(String((await first.next()).value)).toBe('one ')
  const second = share(1, 'name', produce)[Symbol.asyncIterator]()
  expect(String((await second.next()).value)).toBe('one ')
  const rest = [first.next(), second.next()]
  open(1)
  expect((await Promise.all(rest)).map(({ value }) => String(value))).toEqual(['two', 'two'])
  expect((await Promise.all([first.next(), second.next()])).map(({ done }) => done)).toEqual([true, true])
  expect(counts).toEqual({ begun: 1, given: 2, left: 1 })
})

test('a stream that nobody reads any more is not made to its end, and takes no room in the cache', async () => {
  const cache = createResponseCache(ROOM)
  const share = createSharedStreams(cache)
  const { produce, open, openAll, counts } = source('one', 'two', 'three', 'four')
  const reading = share(1, 'name', produce)[Symbol.asyncIterator]()
  open(0)
  await reading.next()
  await reading.return?.(undefined)
  openAll()
  await expect.poll(() => counts.left).toBe(1)
  expect(counts.given).toBeLessThan(4)
  expect(cache.findCopy('name')).toBeUndefined()
  expect(cache.size().bytes).toBe(0)
})

test('without room for the whole stream, each reader gets the rest from a stream of its own', async () => {
  const cache = createResponseCache(20)
  const share = createSharedStreams(cache)
  const { produce, openAll, counts } = source('0123', '4567', '89ab', 'cdef')
  openAll()
  const read = await Promise.all([1, 2].map(() => Array.fromAsync(share(1, 'name', produce))))
  expect(read.map(text)).toEqual(['0123456789abcdef', '0123456789abcdef'])
  expect(counts.begun).toBeGreaterThan(1)
  expect(cache.size()).toMatchObject({ bytes: 0, entries: 0 })
})

test('a dropped copy goes on where its reader was, and is not made again if that was the end', async () => {
  const { produce, openAll, counts } = source('one ', 'two')
  openAll()
  for (const [read, begun] of [
    [1, 1],
    [2, 0],
  ] as const) {
    counts.begun = 0
    const copy = { chunks: [Buffer.from('one '), Buffer.from('two')], byteLength: 7, isDropped: false }
    const reading = readCopy(copy, produce)
    const chunks: Uint8Array[] = []
    for (let at = 0; at < read; at += 1) chunks.push((await reading.next()).value)
    dropCopy(copy)
    chunks.push(...(await Array.fromAsync(reading)))
    expect(chunks.map(String)).toEqual(['one ', 'two'])
    expect(counts.begun).toBe(begun)
  }
})

test('a shared stream that is dropped as soon as it is whole is whole for its reader', async () => {
  for (const readBefore of [1, 2]) {
    const cache = createResponseCache(40)
    const share = createSharedStreams(cache)
    const { produce, openAll, counts } = source('0123456', '789')
    openAll()
    const reading = share(1, 'name', produce)[Symbol.asyncIterator]()
    const chunks: Uint8Array[] = []
    for (let at = 0; at < readBefore; at += 1) chunks.push((await reading.next()).value)
    await expect.poll(() => counts.left).toBe(1)
    const copy = cache.findCopy('name')
    if (copy) dropCopy(copy)
    for (let step = await reading.next(); !step.done; step = await reading.next()) chunks.push(step.value)
    expect(text(chunks)).toBe('0123456789')
    // A stream that was read to its end is not made again.
    expect(counts.begun).toBe(readBefore === 2 ? 1 : 2)
  }
})
