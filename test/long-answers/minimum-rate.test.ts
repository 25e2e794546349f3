// Tests the minimum rate of a client that reads: 64 KiB in the write timeout, later in two and a half. Only the clock of
// that timeout is fake.
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { type Duplex, duplexPair } from 'node:stream'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import type { BrokenOff } from '../../src/http/server/broken-off.ts'
import { createHttpServer } from '../../src/http/server/server.ts'
import { listenForTest } from '../support/listen-for-test.ts'
import { serverOptions } from '../support/server-options.ts'
import { openSocket, requestText } from '../support/wire.ts'

const TIMEOUT_MS = 20_000
const SLICE_BYTES = 65_536
/** More than any kernel buffers for a connection. */
const BODY = Buffer.alloc(512 * SLICE_BYTES, 'x')

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  return () => vi.useRealTimers()
})

function createServer(body: () => Uint8Array | AsyncIterable<Uint8Array>) {
  const brokenOff: BrokenOff[] = []
  const server = createHttpServer(
    async () => ({ status: 200, headers: {}, body: body() }),
    serverOptions({ reportBrokenOff: (event) => brokenOff.push(event) }),
  )
  return { server, brokenOff }
}

const KINDS = [
  ['a complete body', () => BODY],
  [
    'a streamed body',
    async function* () {
      for (let at = 0; at < BODY.byteLength; at += 100_000) yield BODY.subarray(at, at + 100_000)
    },
  ],
] as const

/** Waits for real turns of the event loop, enough for everything that can continue without time. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

test.each(KINDS)('a client that trickles is disconnected, although it continues to read: %s', async (_, body) => {
  const { server, brokenOff } = createServer(body)
  const url = await listenForTest(server)
  const socket = await openSocket(url)
  onTestFinished(() => {
    socket.destroy()
  })
  socket.pause()
  socket.write(requestText({ target: '/long' }))
  await once(socket, 'readable')
  let seconds = 0
  let read = 0
  // After a first read, the room in the kernel may let one more slice begin.
  for (; brokenOff.length === 0 && seconds < 100; seconds += 1) {
    await settle()
    // The gateway reads the tables of the kernel, which takes real time.
    for (let file = 0; file < 10; file += 1) await readFile(import.meta.filename)
    read += socket.read(1_024)?.length ?? 0
    vi.advanceTimersByTime(1_000)
  }
  expect(seconds * 1_000).toBeGreaterThanOrEqual(TIMEOUT_MS)
  expect(seconds * 1_000).toBeLessThan(4 * TIMEOUT_MS)
  // The client read all the time.
  expect(read).toBe(seconds * 1_024)
  expect(brokenOff).toEqual([
    { reason: 'stalled', method: 'GET', path: '/long', status: 200, sentBytes: expect.any(Number) },
  ])
  const sentBytes = brokenOff[0]?.sentBytes ?? 0
  expect(sentBytes).toBeGreaterThan(read)
  expect(sentBytes).toBeLessThan(BODY.byteLength)
})

/** Connects without a kernel in between: the server has not written what the client has not read. */
function connectTo(server: ReturnType<typeof createServer>['server']): Duplex {
  const [client, side] = duplexPair()
  server.emit('connection', Object.assign(side, { resetAndDestroy: () => side.destroy(), remoteAddress: '127.0.0.1' }))
  client.pause()
  client.on('error', () => {})
  client.write(requestText({ target: '/long' }))
  return client
}

/**
 * Reads 64 KiB every so many milliseconds until all is read or the connection is closed. Returns how many bytes came.
 */
async function readEvery(client: Duplex, milliseconds: number): Promise<number> {
  let read = 0
  for (let slice = 0; slice < 600 && !client.destroyed; slice += 1) {
    await settle()
    for (let left = SLICE_BYTES; left > 0; ) {
      const chunk: Buffer | null = client.read(Math.min(left, client.readableLength))
      if (chunk === null || chunk.length === 0) break
      left -= chunk.length
      read += chunk.length
      await settle()
    }
    await vi.advanceTimersByTimeAsync(milliseconds)
  }
  return read
}

test.each(KINDS)('a client that reads a little faster than the minimum rate gets all of it: %s', async (_, body) => {
  const { server, brokenOff } = createServer(body)
  const read = await readEvery(connectTo(server), TIMEOUT_MS - 100)
  expect(read).toBeGreaterThan(BODY.byteLength)
  expect(brokenOff).toEqual([])
})

test.each(KINDS)('a client that takes three times as long is disconnected: %s', async (_, body) => {
  const { server, brokenOff } = createServer(body)
  const read = await readEvery(connectTo(server), 3 * TIMEOUT_MS)
  expect(read).toBeLessThan(4 * SLICE_BYTES)
  expect(brokenOff).toMatchObject([{ reason: 'stalled', status: 200 }])
})
