// Writes to a stream: ends when the stream took everything or is gone, and leaves no listener on it.
import { PassThrough, Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { compressParts } from '../../src/http/compression/codecs.ts'
import { writeAndDrain } from '../../src/http/server/write-and-drain.ts'

const BYTES = Buffer.alloc(100_000)

test('writeAndDrain resolves once the stream has used the bytes, and not before', async () => {
  let use = () => {}
  const stream = new Writable({
    write(_chunk, _encoding, done) {
      use = done
    },
  })
  let isWritten = false
  const written = writeAndDrain(BYTES, stream).then(() => {
    isWritten = true
  })
  await new Promise((resolve) => setImmediate(resolve))
  expect(isWritten).toBe(false)
  use()
  await written
})

test('no listener stays on the stream, however much is written', async () => {
  const stream = new PassThrough().resume()
  const before = stream.listenerCount('close')
  for (let write = 0; write < 20; write += 1) await writeAndDrain(BYTES, stream)
  expect(stream.listenerCount('close')).toBe(before)
})

test('a stream that is destroyed, before or during a write, is not waited for and not written to', async () => {
  const stream = new Writable({ write() {} })
  const failures: unknown[] = []
  stream.on('error', (error) => failures.push(error))
  const written = writeAndDrain(BYTES, stream)
  stream.destroy()
  await written
  await writeAndDrain(BYTES, stream)
  await new Promise((resolve) => setImmediate(resolve))
  expect(failures).toEqual([])
})

test('a compressed stream that nobody reads any more stops its source', async () => {
  for (const coding of ['gzip', 'br', 'zstd'] as const) {
    let [made, isLeft] = [0, false]
    async function* parts(): AsyncGenerator<Uint8Array> {
      try {
        for (; made < 1_000; made += 1) yield crypto.getRandomValues(Buffer.alloc(65_536))
      } finally {
        isLeft = true
      }
    }
    for await (const _ of compressParts(parts(), coding)) break
    expect(isLeft).toBe(true)
    expect(made).toBeLessThan(1_000)
  }
})

test('a compressed stream fails if its source fails', async () => {
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('a part of it')
    throw new Error('gone')
  }
  await expect(Array.fromAsync(compressParts(failing(), 'gzip'))).rejects.toThrow('gone')
})
