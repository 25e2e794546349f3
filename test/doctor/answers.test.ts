// What the doctor makes of answers that something in front of the gateway changed, or wrote in its place.
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { createServer as createTlsServer } from 'node:tls'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { runHere, type ServingProcess, serve } from '../support/command-line.ts'
import { listenForTest } from '../support/listen-for-test.ts'
import { makeDirectory, removeDirectory } from '../support/temporary-directory.ts'

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

const directory = makeDirectory()
const database = `file:${join(directory, 'workspace.db')}`
const OPTIONS = ['--database', database, '--trusted-proxy', '127.0.0.1', '--login-guard', 'none']
/** What the doctor knows of a gateway that it looks at from outside. */
const LOOK = [...OPTIONS, '--look', 'outside']
/** A line break is the only one that a report has. */
const CONTROL = /(?!\n)\p{Cc}/u
let gateway: ServingProcess

beforeAll(async () => {
  gateway = await serve(OPTIONS)
})
afterAll(async () => {
  await gateway.kill('SIGKILL')
  removeDirectory(directory)
})

/** A proxy that is set up well, but for what it does to whole answers. Answers its URL. */
function startFront(change: (answer: Answer, path: string) => Answer): Promise<string> {
  const server = createServer(async (incoming, outgoing) => {
    const path = incoming.url ?? '/'
    const { forwarded: _, ...passed } = incoming.headers
    const own = {
      'x-forwarded-for': incoming.socket.remoteAddress,
      'x-forwarded-proto': 'http',
      'x-forwarded-host': incoming.headers.host,
    }
    const body = await buffer(incoming)
    const onward = request(`${gateway.url}${path}`, { method: incoming.method, headers: { ...passed, ...own } })
    onward.on('error', () => outgoing.destroy())
    onward.on('response', async (response) => {
      const headers = Object.fromEntries(Object.entries(response.headers).map(([name, value]) => [name, String(value)]))
      const whole = await buffer(response)
      const answer = change({ status: response.statusCode ?? 0, headers, body: whole }, path)
      const { 'content-length': _length, 'transfer-encoding': _coding, ...others } = answer.headers
      outgoing.writeHead(answer.status, others).end(answer.body)
    })
    onward.end(body)
  })
  return listenForTest(server)
}

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

describe('doctor', () => {
  test('prints no control character that an answer has', async () => {
    const url = await startFront((answer, path) =>
      path === '/projects'
        ? { ...answer, headers: { ...answer.headers, 'content-type': 'text/\x9b31m\x85ok' } }
        : answer,
    )
    for (const format of ['table', 'json']) {
      const { stdout } = await runHere(['doctor', url, ...LOOK, '--format', format])
      expect(stdout).toMatch(/problem-documents/)
      expect(stdout).toContain('text/')
      expect(stdout).not.toMatch(CONTROL)
    }
  })

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
