// Tests graceful shutdown: readiness, the shutdown delay, a second signal, open connections, and a load balancer.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { get } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { runHere, type Serving, serve, serveForTest, serveHereForTest } from '../support/command-line.ts'
import { freePort } from '../support/free-port.ts'
import { ask, bearer, openSession } from '../support/gateway.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { openSocket, readAnswers, readToEnd, requestText } from '../support/wire.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

const HAPROXY = ['/usr/sbin/haproxy', '/usr/local/sbin/haproxy'].find((path) => existsSync(path))
if (HAPROXY === undefined)
  console.warn('skipped: stopping behind a balancer needs HAProxy (Debian: apt-get install haproxy)')

const PROXIED = ['--proxy-protocol', '--trusted-proxy', '127.0.0.1']
const PROXY_HEADER = 'PROXY TCP4 203.0.113.9 127.0.0.1 40000 4000\r\n'

async function database(): Promise<string> {
  const url = `file:${join(temporaryDirectory(), 'workspace.db')}`
  expect((await runHere(['import', '-', '--database', url], { stdin: SMALL_WORLD })).exitCode).toBe(0)
  return url
}

async function tokenOf({ url }: Serving): Promise<string> {
  return (await openSession(url, ANA)).accessToken
}

test('after SIGTERM, the gateway is not ready, and continues to serve during --shutdown-delay', async () => {
  const serving = await serveForTest(['--database', await database(), '--shutdown-delay', '60'])
  const accessToken = await tokenOf(serving)
  expect((await ask(`${serving.url}/readyz`)).status).toBe(200)
  serving.process.kill('SIGTERM')
  await expect.poll(async () => (await ask(`${serving.url}/readyz`)).status).toBe(503)
  expect((await ask(`${serving.url}/readyz`)).headers.get('retry-after')).toBe('1')
  expect((await ask(`${serving.url}/healthz`)).status).toBe(200)
  expect((await ask(`${serving.url}/projects`, { headers: bearer(accessToken) })).status).toBe(200)
  expect(await tokenOf(serving)).not.toBe('')
  expect(serving.process.exitCode).toBe(null)
})

test('a start that waits for a file of the configuration, which is a pipe without an end, is ended by a signal', async () => {
  for (const flag of ['--key-encryption-key-file', '--import-token-file']) {
    const pipe = join(temporaryDirectory(), 'pipe')
    execFileSync('mkfifo', [pipe])
    let child: ChildProcess | undefined
    const served = serve(['--database', await database(), flag, pipe], {}, (started) => {
      child = started
    })
    onTestFinished(() => void child?.kill('SIGKILL'))
    const ended = expect(served).rejects.toThrow('serve ended before it listened')
    // Opened when the gateway opens it too.
    const writer = await open(pipe, 'w')
    child?.kill('SIGTERM')
    await ended
    await writer.close()
    expect(child?.signalCode).toBe('SIGTERM')
  }
})

test('a second signal ends the gateway at once, even if it differs from the first', async () => {
  const pairs = ['SIGINT', 'SIGTERM'] as const
  for (const [first, second] of [pairs, pairs.toReversed()]) {
    const serving = await serveForTest(['--database', await database(), '--shutdown-delay', '60'])
    serving.process.kill(first)
    await expect.poll(async () => (await ask(`${serving.url}/readyz`)).status).toBe(503)
    expect(await serving.kill(second ?? 'SIGTERM')).toBe(null)
    expect(serving.process.signalCode).toBe(second)
  }
})

test.skipIf(process.platform === 'win32')('SIGUSR1 opens no debugger', async () => {
  const serving = await serveForTest(['--database', await database()])
  serving.process.kill('SIGUSR1')
  expect((await ask(`${serving.url}/healthz`)).status).toBe(200)
  expect(await serving.kill('SIGTERM')).toBe(0)
  // Node would say there that it listens, or that the port of the debugger is in use.
  expect(serving.stderr()).not.toMatch(/debugger|inspector/i)
})

test('a draining gateway answers one more request on an open connection and closes it', async () => {
  const serving = await serveHereForTest(['--database', await database()])
  const socket = await openSocket(serving.url)
  socket.write(requestText({}))
  await once(socket, 'data')
  const ended = serving.kill('SIGTERM')
  await expect.poll(serving.stderr, { interval: 5 }).toContain('"stopping"')
  socket.write(requestText({ target: '/healthz' }))
  const [answer] = readAnswers(await readToEnd(socket))
  expect([answer?.status, answer?.headers.get('connection')]).toEqual([200, 'close'])
  expect(await ended).toBe(0)
})

test('a gateway that stops answers the requests on connections that it had not accepted yet', async () => {
  const serving = await serveForTest(['--database', await database()])
  serving.process.kill('SIGSTOP')
  const sockets = await Promise.all(Array.from({ length: 20 }, () => openSocket(serving.url)))
  for (const socket of sockets) socket.write(requestText({ target: '/healthz' }))
  serving.process.kill('SIGTERM')
  serving.process.kill('SIGCONT')
  const answers = await Promise.all(sockets.map(readToEnd))
  expect(answers.flatMap((bytes) => readAnswers(bytes).map(({ status }) => status))).toEqual(Array(20).fill(200))
  expect(await serving.ended).toBe(0)
})

// A browser opens such connections ahead. They would keep the gateway for the 10 s that the head of a request may take.
test.each([
  ['nothing', [], ''],
  ['nothing, by a proxy that sends PROXY headers', PROXIED, ''],
  ['only a PROXY header', PROXIED, PROXY_HEADER],
])('a draining gateway closes a connection on which was sent: %s', async (_what, args, sent) => {
  const serving = await serveHereForTest(['--database', await database(), ...args])
  const unused = await openSocket(serving.url)
  const begun = await openSocket(serving.url)
  unused.write(sent)
  const request = `${args.length > 0 ? PROXY_HEADER : ''}${requestText({})}`
  begun.write(request.slice(0, -2))
  // Answered after everything that the others have sent was read.
  const socket = await openSocket(serving.url)
  socket.write(request)
  await once(socket, 'data')
  const ended = serving.kill('SIGTERM')
  expect(String(await readToEnd(unused))).toBe('')
  begun.write(request.slice(-2))
  expect(readAnswers(await readToEnd(begun)).map(({ status }) => status)).toEqual([200])
  expect(await ended).toBe(0)
  expect(serving.stderr()).not.toContain('connections of a trusted proxy are closed')
})

test('a draining gateway goes on sending the answers that wait for a slow client', async () => {
  const serving = await serveHereForTest(['--database', await database()])
  const unused = await openSocket(serving.url)
  const slow = await openSocket(serving.url)
  // More than the system takes for a client that does not read.
  slow.write(requestText({ target: '/openapi.json' }).repeat(100))
  await once(slow, 'readable')
  const ended = serving.kill('SIGTERM')
  await readToEnd(unused)
  expect(readAnswers(await readToEnd(slow)).map(({ status }) => status)).toEqual(Array(100).fill(200))
  expect(await ended).toBe(0)
})

test('the end of --shutdown-grace says how many requests it cut off, and nothing if there were none', async () => {
  for (const count of [2, 0]) {
    const serving = await serveHereForTest(['--database', await database(), '--shutdown-grace', '0'])
    const idle = await openSocket(serving.url)
    idle.write(requestText({}))
    await once(idle, 'data')
    for (let sent = 0; sent < count; sent += 1) {
      const headers = [
        ['Content-Type', 'application/json'],
        ['Content-Length', '100'],
        ['Expect', '100-continue'],
      ] as const
      const socket = await openSocket(serving.url)
      socket.write(requestText({ method: 'POST', target: '/login', headers }))
      // The gateway reads the body, which never comes.
      expect(String(await once(socket, 'data'))).toContain('100 Continue')
    }
    expect(await serving.kill('SIGTERM')).toBe(0)
    const line = /^.*requests are cut off.*$/m.exec(serving.stderr())?.[0] ?? 'null'
    expect(JSON.parse(line)).toEqual(count === 0 ? null : expect.objectContaining({ level: 40, requests: count }))
  }
})

async function startHaproxy(servers: readonly Serving[]): Promise<string> {
  const port = await freePort('127.0.0.1')
  const file = join(temporaryDirectory(), 'haproxy.cfg')
  // HAProxy uses its default checks: one every 2 s, and a server is down after 3 failures.
  const config = `
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend gateway
  bind 127.0.0.1:${port}
  default_backend nodes
backend nodes
  option httpchk GET /readyz
${servers.map(({ url }, n) => `  server node${n} ${new URL(url).host} check`).join('\n')}
`
  writeFileSync(file, config)
  execFileSync(HAPROXY ?? '', ['-c', '-q', '-f', file])
  const proxy = spawn(HAPROXY ?? '', ['-db', '-f', file], { stdio: 'ignore' })
  onTestFinished(() => {
    proxy.kill('SIGKILL')
  })
  const isUp = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
      onTestFinished(() => {
        socket.destroy()
      })
    })
  await expect.poll(isUp).toBe(true)
  return `http://127.0.0.1:${port}`
}

function statusOf(url: string, accessToken: string): Promise<string> {
  return new Promise((resolve) => {
    const request = get(`${url}/projects`, { agent: false, headers: bearer(accessToken) }, (response) => {
      response.resume()
      response.on('close', () => resolve(response.complete ? String(response.statusCode) : 'broken off'))
    })
    request.on('error', (error) => resolve(error.message))
  })
}

test.skipIf(HAPROXY === undefined)(
  'behind HAProxy with its default checks, stopping one of two gateways fails no request',
  async () => {
    const url = await database()
    const args = ['--database', url, '--shutdown-delay', '9', '--log-level', 'silent']
    const nodes = await Promise.all([serveHereForTest(args), serveForTest(args)])
    const [first] = nodes
    const proxy = await startHaproxy(nodes)
    const accessToken = await tokenOf(first)
    const outcomes: string[] = []
    let isOver = false
    const clients = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (!isOver) {
          outcomes.push(await statusOf(proxy, accessToken))
          await delay(30)
        }
      }),
    )
    expect(await first.kill('SIGTERM')).toBe(0)
    const before = outcomes.length
    await expect.poll(() => outcomes.length).toBeGreaterThan(before + 50)
    isOver = true
    await clients
    expect([...new Set(outcomes)]).toEqual(['200'])
  },
)
