import { once } from 'node:events'
import type { AddressInfo, Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createHttpServer } from '../../src/http/server/server.ts'
import { serverOptions } from '../support/server-options.ts'
import { openSocket, requestText } from '../support/wire.ts'

const MIB = 1_048_576

test('what clients take at once goes out in many turns of the event loop, so that others are answered in between', async () => {
  const body = Buffer.alloc(MIB)
  const server = createHttpServer(async () => ({ status: 200, headers: {}, body }), serverOptions())
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
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
