// Tests the command by which containers and scripts check whether a gateway is ready.
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createTcpServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { run, runHere, serveForTest } from '../support/command-line.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

test('health finds a ready gateway by its address or by its options', async () => {
  const { url } = await serveForTest(['--base-path', '/v1', '--no-demo'], { cwd: temporaryDirectory() })
  const ready = { exitCode: 0, stdout: 'ready\n', stderr: '' }
  expect(await runHere(['health', `${url}/v1`])).toEqual(ready)
  expect(await runHere(['health', `${url}/v1/`])).toEqual(ready)
  const { port } = new URL(url)
  expect(await runHere(['health', '--port', port, '--base-path', '/v1'])).toEqual(ready)
  expect(await runHere(['health', '--port', port, '--base-path', '/v1', '--host', '0.0.0.0'])).toEqual(ready)
  // Runs as a process, which must end, with the variables that a container has.
  const env = { WORKSPACE_GATEWAY_PORT: port, WORKSPACE_GATEWAY_BASE_PATH: '/v1' }
  expect(await run(['health'], { env })).toEqual(ready)
  const wrong = await runHere(['health', '--port', port])
  expect([wrong.exitCode, wrong.stdout]).toEqual([1, ''])
  expect(wrong.stderr).toMatch(/^not ready: 404 .+\n$/)
})

test('health reaches a port that browsers refuse, and ignores the proxy of the environment', async () => {
  const { url } = await serveForTest(['--port', '6667', '--no-demo'], { cwd: temporaryDirectory() })
  const env = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: 'http://127.0.0.1:1' }
  expect(await run(['health', url], { env })).toEqual({ exitCode: 0, stdout: 'ready\n', stderr: '' })
})

test('health accepts either address family of a gateway that listens on every address', async () => {
  const { url } = await serveForTest(['--host', '0.0.0.0', '--login-guard', 'none', '--no-demo'], {
    cwd: temporaryDirectory(),
  })
  const { port } = new URL(url)
  expect(await runHere(['health', '--host', '::', '--port', port])).toMatchObject({ exitCode: 0 })
})

test.each([
  [
    'a gateway that refuses',
    503,
    { status: 503, detail: 'The gateway is shutting down.' },
    /^not ready: 503 The gateway is shutting down\.\n$/,
  ],
  ['another program', 200, { status: 'ok' }, /^not ready: 200 the server there is not a gateway\.\n$/],
  [
    'a server that writes to the terminal',
    503,
    { detail: '\u001b]0;title\u0007\u009b31mred\nready' },
    /^not ready: 503 {2}\]0;title 31mred ready\n$/,
  ],
  [
    'a server with a long answer',
    200,
    { status: 'ready', detail: 'x'.repeat(65_536) },
    /^not ready: 200 the server there is not a gateway\.\n$/,
  ],
  ['a server that redirects', 302, {}, /^not ready: 302 the server there is not a gateway\.\n$/],
])('health reports that %s is not ready', async (_, status, body, message) => {
  const server = createServer((_request, response) => {
    response.writeHead(status, { location: '/elsewhere' }).end(JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  const { exitCode, stdout, stderr } = await runHere(['health', `http://127.0.0.1:${port}`])
  expect([exitCode, stdout]).toEqual([1, ''])
  expect(stderr).toMatch(message)
})

test('health reports that no gateway is ready where nobody listens or answers', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1')
  await new Promise((resolve) => silent.once('listening', resolve))
  const { port } = silent.address() as { port: number }
  const waited = await runHere(['health', '--port', String(port), '--timeout', '1'])
  expect([waited.exitCode, waited.stderr]).toEqual([
    1,
    `not ready: http://127.0.0.1:${port} does not answer (no answer in time)\n`,
  ])
  silent.closeAllConnections()
  await new Promise((resolve) => silent.close(resolve))
  const refused = await runHere(['health', '--port', String(port)])
  expect([refused.exitCode, refused.stderr]).toEqual([
    1,
    `not ready: http://127.0.0.1:${port} does not answer (ECONNREFUSED)\n`,
  ])
  expect((await runHere(['health', 'nonsense'])).exitCode).toBe(2)
})

test('health reports that a server that switches to another protocol is not ready', async () => {
  const server = createTcpServer((socket) => {
    socket
      .on('error', () => {})
      .on('data', () => socket.end(`HTTP/1.1 101 Other\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n`))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  expect(await run(['health', '--port', String(port)])).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: `not ready: http://127.0.0.1:${port} does not answer (the server switches to another protocol)\n`,
  })
})

test.each([
  ['breaks off', 'ECONNRESET', (socket: Socket | null) => socket?.resetAndDestroy()],
  ['stops', 'no answer in time', () => {}],
])('health reports in one sentence that a gateway whose answer %s is not ready', async (_, reason, leave) => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('{"status":', () => setImmediate(leave, response.socket))
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  const { exitCode, stdout, stderr } = await run(['health', '--port', String(port), '--timeout', '1'])
  expect([exitCode, stdout]).toEqual([1, ''])
  expect(stderr).toBe(`not ready: http://127.0.0.1:${port} does not answer (${reason})\n`)
})

test('no message repeats the password or the signature of an address', async () => {
  const file = join(temporaryDirectory(), 'records.ndjson')
  writeFileSync(file, '')
  const token = join(temporaryDirectory(), 'token')
  writeFileSync(token, 'x'.repeat(32))
  const withPassword = 'http://ana:hunter2@127.0.0.1:1'
  const database = `file:${join(temporaryDirectory(), 'workspace.db')}`
  for (const [expected, reason, args] of [
    [2, 'the address of a server must not have a user, password', ['health', withPassword]],
    [
      2,
      'the address of a server must not have a user, password',
      ['import', file, '--to', withPassword, '--token-file', token],
    ],
    [
      2,
      'the address of a file must not have a user or password',
      ['import', `${withPassword}/records.ndjson?signature=hunter2`],
    ],
    [
      1,
      'cannot read http://127.0.0.1:1/records.ndjson: no answer',
      ['import', 'http://127.0.0.1:1/records.ndjson?signature=hunter2'],
    ],
    [2, 'the address of a file must have a host', ['import', 'http://ana:hunter2@:x']],
  ] as const) {
    const { exitCode, stdout, stderr } = await runHere([
      ...args,
      ...(args[0] === 'import' ? ['--database', database] : []),
    ])
    expect([args, exitCode, stdout]).toEqual([args, expected, ''])
    expect(stderr.startsWith(reason), stderr).toBe(true)
    expect(stderr).not.toContain('hunter2')
    // These commands have no such option.
    expect(stderr).not.toContain('--headers')
  }
})

test.each([
  [['health', 'http://ana:hunter2@127.0.0.1:1'], ''],
  [['conformance', 'http://ana:hunter2@127.0.0.1:1', '--email', 'ana@example.com'], ': put credentials into --headers'],
])('%j says where credentials go only if the command has an option for them', async (args, advice) => {
  const { exitCode, stdout, stderr } = await runHere(args)
  expect([exitCode, stdout, stderr]).toEqual([
    2,
    '',
    `the address of a server must not have a user, password, query or fragment${advice}\n`,
  ])
  const help = await runHere([String(args[0]), '--help'])
  for (const [flag] of advice.matchAll(/--\S+/g)) expect(help.stdout).toContain(flag)
})

test('--version names the version of the package', async () => {
  const { stdout, exitCode } = await runHere(['--version'])
  expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)])
})
