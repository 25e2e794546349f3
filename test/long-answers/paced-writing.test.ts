// Tests that long answers are written over many turns of the event loop.
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createHttpServer } from '../../src/http/server/server.ts'
import { serverOptions } from '../support/server-options.ts'
import { openSocket, requestText } from '../support/wire.ts'

const MIB = 1_048_576

test('answers that clients take at once are written over many turns of the event loop', async () => {
  const body = Buffer.alloc(MIB)
  const server = createHttpServer(async () => ({ status: 200, headers: {}, body }), serverOptions())
  const { url, sockets } = await listening(server)
  const written = () => sockets.values().reduce((sum, { bytesWritten }) => sum + bytesWritten, 0)
  const clients = await Promise.all(Array.from({ length: 32 }, () => openSocket(url)))
  onTestFinished(() => {
    for (const client of clients) client.destroy()
    server.close()
  })
  for (const client of clients) client.resume().write(requestText({}))
  let [before, most] = [0, 0]
  while (before < clients.length * MIB) {
    await new Promise((resolve) => setImmediate(resolve))
    most = Math.max(most, written() - before)
    before = written()
  }
  expect(most).toBeLessThan(MIB / 2)
})

test('an answer that many clients wait for starts over many turns, however short its chunks are', async () => {
  const { promise: made, resolve: make } = Promise.withResolvers<void>()
  let waiting = 0
  const server = createHttpServer(async () => {
    waiting += 1
    await made
    const body = (async function* () {
      yield* [Buffer.from('['), Buffer.from(']')]
    })()
    return { status: 200, headers: {}, body }
  }, serverOptions())
  const { url, sockets } = await listening(server)
  const clients = await Promise.all(Array.from({ length: 100 }, () => openSocket(url)))
  onTestFinished(() => {
    for (const client of clients) client.destroy()
    server.close()
  })
  for (const client of clients) client.resume().write(requestText({}))
  await vi.waitUntil(() => waiting === clients.length)
  make()
  const begun = () => sockets.values().reduce((sum, { bytesWritten }) => sum + Math.sign(bytesWritten), 0)
  let [before, most] = [0, 0]
  while (before < clients.length) {
    await new Promise((resolve) => setImmediate(resolve))
    most = Math.max(most, begun() - before)
    before = begun()
  }
  expect(most).toBeLessThanOrEqual(20)
})

async function listening(server: Server): Promise<{ readonly url: string; readonly sockets: ReadonlySet<Socket> }> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets }
}
