// What the doctor makes of what answers in place of a gateway.
import { once } from 'node:events'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { runHere, type ServingProcess, serve } from '../support/command-line.ts'
import { makeDirectory, removeDirectory } from '../support/temporary-directory.ts'

const directory = makeDirectory()
const database = `file:${join(directory, 'workspace.db')}`
const OPTIONS = ['--database', database, '--trusted-proxy', '127.0.0.1', '--login-guard', 'none']
/** What the doctor knows of a gateway that it looks at from outside. */
const LOOK = [...OPTIONS, '--look', 'outside']
let gateway: ServingProcess

beforeAll(async () => {
  gateway = await serve(OPTIONS)
})
afterAll(async () => {
  await gateway.kill('SIGKILL')
  removeDirectory(directory)
})

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

describe('doctor', () => {
  test('says that what answers at an https:// URL does not speak TLS', async () => {
    const ssh = createTcpServer((socket) => void socket.on('error', () => {}).end('SSH-2.0-server\r\n'))
    for (const port of [new URL(gateway.url).port, await portOf(ssh)]) {
      const { exitCode, stderr } = await runHere(['doctor', `https://127.0.0.1:${port}`, ...LOOK])
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining('something answers that does not speak TLS')])
      expect(stderr).toContain('http://')
      expect(stderr).not.toMatch(/nothing answers|OpenSSL|SSL routines|\.c:|\n\n/)
    }
  })

  test('says that the TLS handshake fails, in the words of what failed', async () => {
    const withoutCertificate = createTlsServer().on('tlsClientError', () => {})
    const { exitCode, stderr } = await runHere([
      ...['doctor', `https://127.0.0.1:${await portOf(withoutCertificate)}`],
      ...LOOK,
    ])
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('handshake failure')])
    expect(stderr).not.toMatch(/nothing answers|SSL routines|\.c:|\n\n/)
  })
})
