// Tests how the doctor handles answers that something in front of the gateway changed or replaced.
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { createServer as createTlsServer } from 'node:tls'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { PROBE_PATH } from '../../src/admin/probe.ts'
import { runHere, type ServingProcess, serve } from '../support/command-line.ts'
import { listenForTest } from '../support/listen-for-test.ts'
import { makeDirectory, removeDirectory } from '../support/temporary-directory.ts'

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

interface Report {
  readonly findings: readonly { readonly check: string; readonly problem: string }[]
  readonly passed: readonly string[]
  readonly notChecked: readonly { readonly check: string; readonly reason: string }[]
}

const directory = makeDirectory()
const database = `file:${join(directory, 'workspace.db')}`
const OPTIONS = ['--database', database, '--trusted-proxy', '127.0.0.1', '--login-guard', 'none']
/** The options of a doctor that examines the gateway from outside. Its check of time-outs takes 50 ms. */
const LOOK = [...OPTIONS, '--look', 'outside', '--lock-timeout', '50']
/** Control characters other than the line break, the only one that a report may contain. */
const CONTROL = /(?!\n)\p{Cc}/u
let gateway: ServingProcess

beforeAll(async () => {
  gateway = await serve(OPTIONS)
})
afterAll(async () => {
  await gateway.kill('SIGKILL')
  removeDirectory(directory)
})

/** Starts a proxy that is configured well, except that it changes whole answers. Returns its URL. */
function startFront(
  change: (answer: Answer, path: string) => Answer,
  isHeld: (path: string) => boolean = () => true,
): Promise<string> {
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
      if (!isHeld(path)) {
        outgoing.writeHead(response.statusCode ?? 0, response.headers)
        response.pipe(outgoing)
        return
      }
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

async function examine(url: string, options: readonly string[] = []): Promise<Report> {
  const { stdout, stderr } = await runHere(['doctor', url, ...LOOK, ...options, '--format', 'json'])
  expect(stderr).toBe('')
  return JSON.parse(stdout) as Report
}

const checksOf = (rows: readonly { readonly check: string }[]) => rows.map(({ check }) => check)

describe('doctor', () => {
  test('refuses a file of authorities without a certificate, instead of blaming that of the proxy', async () => {
    const asked = ['doctor', 'https://localhost:1', ...LOOK, '--tls-ca', 'package.json']
    expect(await runHere(asked)).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: '--tls-ca: package.json holds no certificate in PEM\n',
    })
  })

  const CODINGS = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync, zstd: zstdCompressSync }
  for (const [name, code] of Object.entries(CODINGS)) {
    test(`reads answers that a proxy has encoded as ${name} without being asked`, async () => {
      const url = await startFront(({ status, headers, body }) =>
        headers['content-encoding'] === undefined && body.length > 0
          ? { status, headers: { ...headers, 'content-encoding': name }, body: code(body) }
          : { status, headers, body },
      )
      const { findings, notChecked } = await examine(url)
      expect(checksOf(notChecked)).toEqual(['tls', 'tls-certificate', 'tls-version'])
      // The proxy has the whole answer before it passes it on.
      expect(checksOf(findings)).toEqual(['streaming'])
    })
  }

  test('tries the size of a body even if the gateway accepts bodies larger than a text can be', async () => {
    const { passed, notChecked } = await examine(gateway.url, ['--body-limit', String(2 ** 30)])
    expect(passed).toContain('body-limit')
    expect(checksOf(notChecked)).not.toContain('body-limit')
  })

  test('does not report a proxy that holds answers back when only one answer was late', async () => {
    let isFirst = true
    const url = await startFront(
      (answer) => answer,
      (path) => {
        const isLate = path.startsWith(PROBE_PATH) && isFirst
        if (isLate) isFirst = false
        return isLate
      },
    )
    expect(checksOf((await examine(url)).findings)).toEqual([])
    expect(isFirst).toBe(false)
  })

  for (const [what, coding] of [
    ['that does not match its header', 'gzip'],
    ['that is unknown', 'x-own'],
  ] as const) {
    test(`says in words that it cannot read a content coding ${what}`, async () => {
      const url = await startFront(({ status, headers, body }, path) =>
        path.startsWith(PROBE_PATH)
          ? { status, headers: { ...headers, 'content-encoding': coding }, body: Buffer.from('\x1f\x1b[31m') }
          : { status, headers, body },
      )
      const { stdout } = await runHere(['doctor', url, ...LOOK])
      expect(stdout).toMatch(new RegExp(`^skipped +streaming .* ${coding}`, 'm'))
      expect(stdout).not.toMatch(CONTROL)
    })
  }

  const NO_SIGHTINGS = {
    'an object of another kind': '{"data":null}',
    'part of a sighting': '{"nonce":"1","client":{},"peer":null,"forwardingHeaders":7}',
    null: 'null',
    'control characters': '\x1f\x8b\x1b[31mred',
    nothing: '',
  }
  for (const [what, body] of Object.entries(NO_SIGHTINGS)) {
    test(`does not take ${what} for a sighting`, async () => {
      const url = await startFront((answer, path) =>
        path.startsWith(PROBE_PATH) ? { ...answer, status: 200, body: Buffer.from(body, 'latin1') } : answer,
      )
      const { findings, notChecked } = await examine(url)
      expect(findings).toEqual([])
      expect(checksOf(notChecked)).toContain('client-address')
      expect(checksOf(notChecked)).toContain('shared-cache')
      for (const { check, reason } of notChecked)
        if (!check.startsWith('tls')) expect(reason).toMatch(/^the gateway did not report what it received/)
    })
  }

  test('reports once that another server answers at every path except the health check', async () => {
    const url = await startFront((answer, path) =>
      path === '/healthz'
        ? answer
        : { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from('{}') },
    )
    const { findings, passed, notChecked } = await examine(url)
    expect(checksOf(findings)).toEqual(['query'])
    expect(passed).toEqual(['clock'])
    expect(checksOf(notChecked)).toContain('shared-cache')
    for (const { check, reason } of notChecked)
      expect(reason).toMatch(check.startsWith('tls') ? /^the address is http$/ : /path .* does not arrive/)
    expect(checksOf(notChecked)).toEqual(expect.arrayContaining(['tls', 'tls-certificate', 'tls-version']))
  })

  test('does not judge conditional requests while nodes of several versions answer', async () => {
    const url = await startFront(
      (answer) => ({ ...answer, headers: { ...answer.headers, etag: `"${randomUUID()}"` } }),
      (path) => path === '/openapi.json',
    )
    const { findings, notChecked } = await examine(url)
    expect(findings).toEqual([])
    expect(notChecked.find(({ check }) => check === 'conditional-requests')?.reason).toContain('several versions')
  })

  for (const status of [429, 503]) {
    test(`does not judge requests that a proxy with a limit answers ${status}`, async () => {
      const url = await startFront(
        (answer, path) =>
          /^\/(?:login|logout|projects|graphql|metrics)/.test(path)
            ? { status, headers: { 'content-type': 'text/html' }, body: Buffer.from('<h1>Slow down</h1>') }
            : answer,
        (path) => !path.startsWith(PROBE_PATH),
      )
      const { findings, notChecked } = await examine(url)
      expect(findings).toEqual([])
      const limited = notChecked.filter(({ reason }) => reason.includes('too many requests'))
      expect(checksOf(limited)).toEqual([
        ...['login-open', 'login-open-graphql', 'delete-body', 'graphql', 'authorization'],
        ...['problem-documents', 'metrics-open', 'body-limit'],
      ])
    })
  }

  test('finds a 401 without WWW-Authenticate', async () => {
    const url = await startFront(
      ({ headers: { 'www-authenticate': _, ...headers }, ...answer }) => ({ ...answer, headers }),
      (path) => path === '/projects',
    )
    expect((await examine(url)).findings).toMatchObject([
      { check: 'authorization', problem: expect.stringContaining('without the header WWW-Authenticate') },
    ])
  })

  test('says that API-Version is lost, instead of taking the gateway for another server', async () => {
    const url = await startFront(({ headers: { 'api-version': _, ...headers }, ...answer }) => ({ ...answer, headers }))
    const { exitCode, stdout, stderr } = await runHere(['doctor', url, ...LOOK])
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/ a gateway answers, but something in front of it removes the header API-Version /)
  })

  test('prints no control character from an answer', async () => {
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

  test('prints no control character when the answer is not from a gateway', async () => {
    const url = await startFront((answer) => ({
      ...answer,
      headers: { ...answer.headers, 'content-encoding': 'x-\x9b31m' },
    }))
    const { exitCode, stderr } = await runHere(['doctor', url, ...LOOK])
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringContaining('something answers, but with an unknown content coding'),
    ])
    expect(stderr).not.toMatch(CONTROL)
  })

  test('says that a server at an https:// URL does not speak TLS', async () => {
    const ssh = createTcpServer((socket) => void socket.on('error', () => {}).end('SSH-2.0-server\r\n'))
    for (const port of [new URL(gateway.url).port, await portOf(ssh)]) {
      const { exitCode, stderr } = await runHere(['doctor', `https://127.0.0.1:${port}`, ...LOOK])
      expect([exitCode, stderr]).toEqual([2, expect.stringContaining('something answers, but it does not use TLS')])
      expect(stderr).toContain('http://')
      expect(stderr).not.toMatch(/nothing answers|OpenSSL|SSL routines|\.c:|\n\n/)
    }
  })

  test('reports a failed TLS handshake with its cause', async () => {
    const withoutCertificate = createTlsServer().on('tlsClientError', () => {})
    const { exitCode, stderr } = await runHere([
      ...['doctor', `https://127.0.0.1:${await portOf(withoutCertificate)}`],
      ...LOOK,
    ])
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('handshake failure')])
    expect(stderr).not.toMatch(/nothing answers|SSL routines|\.c:|\n\n/)
  })
})
