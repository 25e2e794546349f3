// A request that is late because the gateway does not read its connection gets its time again, each by itself.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { handleClientError, trackExchange } from '../../src/http/server/client-error.ts'

const OPTIONS = { requestTimeoutMs: 30_000 }
const LATE = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** A connection, and what the gateway writes to it. */
function connect() {
  const socket = new PassThrough()
  const written: string[] = []
  Object.assign(socket, {
    write: (text: unknown) => written.push(String(text)),
    end: (text: unknown) => written.push(String(text)),
  })
  const read = (complete = true) =>
    trackExchange({ socket, complete } as unknown as IncomingMessage, { writableFinished: true } as ServerResponse)
  const beLate = () => handleClientError(LATE, socket, OPTIONS)
  const resume = async () => {
    socket.resume()
    await new Promise((resolve) => socket.once('resume', resolve))
  }
  return { socket, written, read, beLate, resume }
}

test('a later late request keeps its time when the time of an earlier one ends', async () => {
  const { socket, written, read, beLate, resume } = connect()
  read()
  socket.pause()
  beLate()
  await resume()
  read()
  socket.pause()
  beLate()
  vi.advanceTimersByTime(OPTIONS.requestTimeoutMs)
  await resume()
  read()
  vi.advanceTimersByTime(OPTIONS.requestTimeoutMs)
  expect(written).toEqual([])
})

test('a connection with many late requests keeps no listeners of the requests that have arrived', async () => {
  const { socket, written, read, beLate, resume } = connect()
  read()
  const listeners = socket.listenerCount('close')
  for (let request = 0; request < 12; request += 1) {
    socket.pause()
    beLate()
    await resume()
    read()
    vi.advanceTimersByTime(OPTIONS.requestTimeoutMs)
  }
  expect(written).toEqual([])
  expect(socket.listenerCount('close')).toBe(listeners)
})

test('a late request that does not come once its connection is read again is refused', async () => {
  const { socket, written, read, beLate, resume } = connect()
  read()
  socket.pause()
  beLate()
  await resume()
  vi.advanceTimersByTime(OPTIONS.requestTimeoutMs)
  expect(written.join('')).toMatch(/^HTTP\/1\.1 408 /)
})
