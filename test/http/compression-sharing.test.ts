// Who shares the bytes of a compression that is in progress, and the memory that it takes.
import { randomBytes } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { createResponseCache } from '../../src/http/caching/response-cache.ts'
import { createCompression } from '../../src/http/compression/compression.ts'
import { createInFlightBytes } from '../../src/http/limits/in-flight-bytes.ts'
import { createAcceptEncodingReader } from '../../src/http/negotiation/content-coding.ts'
import { liveSession } from '../support/live-session.ts'
import { ANA, BEN } from '../support/workspaces.ts'

const MIB = 1_048_576

test('users without a workspace who ask the same at once each get their own answer', async () => {
  const { encode } = createCompression(createResponseCache(MIB), createInFlightBytes(MIB))
  const gzip = createAcceptEncodingReader()('gzip')
  const answers = [ANA, BEN].map(async (email) => {
    const body = Buffer.from(email.repeat(1_000))
    const { body: coded } = await encode(
      liveSession(null, ''),
      '{ me { email } }',
      { status: 200, headers: {}, body },
      gzip,
    )
    return coded instanceof Uint8Array ? String(gunzipSync(coded)) : coded
  })
  expect(await Promise.all(answers)).toEqual([ANA.repeat(1_000), BEN.repeat(1_000)])
})

test('the memory of a compressor counts while its stream is read, and a second one without room is refused', async () => {
  const inFlight = createInFlightBytes(1.5 * MIB)
  const { encode } = createCompression(createResponseCache(0), inFlight)
  const { promise: rest, resolve: goOn } = Promise.withResolvers<void>()
  const body = {
    async *[Symbol.asyncIterator]() {
      yield randomBytes(MIB)
      await rest
    },
  }
  const start = async () => {
    const reply = { status: 200, headers: {}, body }
    const coded = (await encode(liveSession(null, ''), '/exports', reply, createAcceptEncodingReader()('gzip'))).body
    return (coded as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
  }
  const reading = await start()
  await reading.next()
  expect(inFlight.byteLength()).toBe(MIB)
  await expect(start()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  goOn()
  while (!(await reading.next()).done);
  expect(inFlight.byteLength()).toBe(0)
})

test('of a compression that has ended nothing is kept but what the cache keeps', async () => {
  const { encode } = createCompression(createResponseCache(0), createInFlightBytes(MIB))
  const reply = { status: 200, headers: { etag: '"a"' }, body: Buffer.alloc(10_000) }
  const ask = async () => (await encode(liveSession(1), '/projects', reply, createAcceptEncodingReader()('gzip'))).body
  const [first, second] = [await ask(), await ask()]
  expect(second).toEqual(first)
  expect(second).not.toBe(first)
})
