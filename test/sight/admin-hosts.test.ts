// Tests the admin port on loopback: it answers health checks of any form, but not pages of other sites.
import { expect, test } from 'vitest'
import { openSocket, readAnswers, readToEnd } from '../support/wire.ts'
import { serveWatched } from './watched.ts'

test('the admin port answers checks without Host or with a local address, and refuses other names', async () => {
  const { adminUrl } = await serveWatched(['--no-demo'])
  const { port } = new URL(adminUrl)
  async function statusOf(head: string): Promise<number | undefined> {
    const socket = await openSocket(adminUrl)
    socket.write(head)
    return readAnswers(await readToEnd(socket))[0]?.status
  }
  // As HAProxy's `option httpchk GET /readyz` sends it.
  expect(await statusOf('GET /readyz HTTP/1.0\r\n\r\n')).toBe(200)
  for (const host of [`127.0.0.2:${port}`, `[::1]:${port}`, '127.1.2.3', 'localhost']) {
    expect(await statusOf(`GET /readyz HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`), host).toBe(200)
  }
  for (const host of ['evil.example', `127.0.0.1.evil.example:${port}`, '192.0.2.1', `localhost.evil.example`]) {
    expect(await statusOf(`GET /metrics HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`), host).toBe(400)
  }
})
