// Several worker processes on one port: how they are started, replaced and ended.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { get, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { run, runHere, serveForTest } from './support/command-line.ts'
import { bearer, openSession } from './support/gateway.ts'
import { POSTGRES_URL, temporaryDatabase } from './support/postgres.ts'
import { PROGRAM } from './support/program.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'
import { ANA, SMALL_WORLD } from './support/workspaces.ts'
import { commandOf, stateOf, until, workersOf } from './workers/processes.ts'

const ENGINES = [
  { engine: 'SQLite', open: async () => `file:${join(temporaryDirectory(), 'workspace.db')}`, isThere: true },
  { engine: 'PostgreSQL', open: temporaryDatabase, isThere: POSTGRES_URL !== null },
]

/** The pause of a client between two requests: short enough to hit every moment, long enough that workers can start. */
const PAUSE_MS = 15

/** Sends each request on a new connection. `stop` ends the load and returns the outcomes. */
function load(url: string, accessToken: string, clients: number) {
  const outcomes = new Map<string, number>()
  let isOver = false
  const askOnce = () =>
    new Promise<string>((resolve) => {
      const request = get(`${url}/projects`, { agent: false, headers: bearer(accessToken) }, (response) => {
        response.resume()
        response.on('close', () => resolve(response.complete ? String(response.statusCode) : 'broken off'))
      })
      request.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    })
  const done = Promise.all(
    Array.from({ length: clients }, async () => {
      while (!isOver) {
        const outcome = await askOnce()
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
        await delay(PAUSE_MS)
      }
    }),
  )
  return {
    successes: () => outcomes.get('200') ?? 0,
    async stop() {
      isOver = true
      await done
      return Object.fromEntries(outcomes)
    },
  }
}

/** Begins a login whose body is still to come. The returned function sends it and returns what is answered. */
async function beginLogin(url: string): Promise<() => Promise<unknown>> {
  const headers = { 'content-type': 'application/json', expect: '100-continue' }
  const login = request(`${url}/login`, { method: 'POST', agent: false, headers })
  login.flushHeaders()
  await once(login, 'continue')
  const answered = once(login, 'response')
  // Not unhandled while nobody waits for it yet.
  answered.catch(() => {})
  return async () => {
    login.end(JSON.stringify({ email: ANA }))
    const [answer] = await answered
    return JSON.parse(await text(answer))
  }
}

/** Whether nobody accepts connections any more. */
function isRefused(url: string): Promise<boolean> {
  const { port, hostname } = new URL(url)
  const socket = connect(Number(port), hostname)
  return once(socket, 'connect')
    .then(() => false)
    .catch(() => true)
    .finally(() => socket.destroy())
}

describe.skipIf(process.platform !== 'linux').each(ENGINES)('workers on $engine', ({ open, isThere }) => {
  test.skipIf(!isThere)('share one port, are replaced when they die, roll on SIGHUP, and end on SIGTERM', async () => {
    const database = ['--database', await open()]
    await runHere(['import', '-', ...database], { stdin: SMALL_WORLD })
    const gateway = await serveForTest([...database, '--workers', '2', '--log-level', 'silent'])
    expect(gateway.stdout()).toBe(`listening on ${gateway.url}\n`)
    const before = workersOf(gateway)
    expect(before).toHaveLength(2)

    // A session that one worker opens is valid on all of them.
    const { accessToken } = await openSession(gateway.url, ANA)

    const rolling = load(gateway.url, accessToken, 4)
    await until(() => rolling.successes() > 20)
    gateway.process.kill('SIGHUP')
    await until(() => workersOf(gateway).length === 2 && workersOf(gateway).every((pid) => !before.includes(pid)))
    const rolled = rolling.successes()
    await until(() => rolling.successes() > rolled + 20)
    expect(Object.keys(await rolling.stop())).toEqual(['200'])

    const [victim = 0, other] = workersOf(gateway)
    const replacing = load(gateway.url, accessToken, 4)
    process.kill(victim, 'SIGKILL')
    await until(() => workersOf(gateway).length === 2 && !workersOf(gateway).includes(victim))
    const { 200: successes = 0, ...dropped } = await replacing.stop()
    expect(workersOf(gateway)).toContain(other)
    expect(successes).toBeGreaterThan(0)
    // At most the requests that were in flight on the killed worker.
    expect(Object.values(dropped).reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(4)

    const workers = workersOf(gateway)
    expect(await gateway.kill('SIGTERM')).toBe(0)
    for (const pid of workers) expect(() => process.kill(pid, 0)).toThrow()
  })
})

test.skipIf(process.platform !== 'linux')(
  'on SIGTERM, workers accept nothing more, answer the requests that they have in hand, and end',
  async () => {
    const database = `file:${join(temporaryDirectory(), 'workspace.db')}`
    const gateway = await serveForTest(['--workers', '2', '--database', database])
    const workers = workersOf(gateway)
    const logins = await Promise.all(Array.from({ length: 4 }, () => beginLogin(gateway.url)))
    const ended = gateway.kill('SIGTERM')
    await expect.poll(() => isRefused(gateway.url)).toBe(true)
    for (const finish of logins) expect(await finish()).toHaveProperty('accessToken')
    expect(await ended).toBe(0)
    for (const pid of workers) expect(() => process.kill(pid, 0)).toThrow()
  },
)

test.skipIf(process.platform !== 'linux')(
  'workers that cannot start report the reason once, and nothing keeps trying',
  async () => {
    const { exitCode, stderr } = await run(['serve', '--workers', '2', '--port', '0', '--database', 'file:/dev/null/x'])
    expect(exitCode).toBe(1)
    expect(stderr.split('\n').filter((line) => line.includes('/dev/null'))).toHaveLength(1)
  },
)

// A supervisor tries again after 1, but not after 2.
test('workers that cannot listen end like a single process: with a sentence and exit code 1', async () => {
  const database = `file:${join(temporaryDirectory(), 'workspace.db')}`
  const { url } = await serveForTest(['--database', database])
  // An address of RFC 5737, which no machine has.
  for (const where of [
    ['--port', new URL(url).port],
    ['--port', '0', '--host', '192.0.2.1', '--login-guard', 'none'],
  ]) {
    const [one, several] = await Promise.all(
      ['1', '2'].map((workers) => run(['serve', '--workers', workers, ...where, '--database', database])),
    )
    expect(one?.exitCode).toBe(1)
    const lastLine = (text = '') => text.trimEnd().split('\n').at(-1)
    expect([several?.exitCode, lastLine(several?.stderr)]).toEqual([1, lastLine(one?.stderr)])
  }
})

const UNPRIVILEGED_PORTS = '/proc/sys/net/ipv4/ip_unprivileged_port_start'

// Only root can become another user, and a container may let everybody have every port.
test.skipIf(
  process.platform !== 'linux' || process.getuid?.() !== 0 || Number(readFileSync(UNPRIVILEGED_PORTS, 'utf8')) <= 80,
)('a port that only root may have is called that', async () => {
  const cwd = temporaryDirectory()
  chmodSync(cwd, 0o777)
  const { exitCode, stderr } = await run(['serve', '--port', '80'], { cwd, user: { uid: 64_001, gid: 64_001 } })
  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringMatching(/^port 80 on 127\.0\.0\.1 needs rights that this user does not have: choose another /m),
  ])
})

/** A module that ends the workers for which the condition holds, before they listen. */
function endingWorkers(condition: string): Readonly<Record<string, string>> {
  const path = join(temporaryDirectory(), 'end.mjs')
  writeFileSync(path, `import cluster from 'node:cluster'\nif (cluster.isWorker && (${condition})) process.exit(7)\n`)
  return { NODE_OPTIONS: `--import ${path}` }
}

test.skipIf(process.platform !== 'linux')(
  'a worker that fails at its first start is logged and started again, and all listen before the gateway says so',
  async () => {
    const database = `file:${join(temporaryDirectory(), 'workspace.db')}`
    const env = endingWorkers('cluster.worker.id === 2')
    const gateway = await serveForTest(['--workers', '3', '--database', database], { env })
    expect(workersOf(gateway)).toHaveLength(3)
    expect(gateway.stderr()).toContain('"exitCode":7')
    expect(await gateway.kill('SIGTERM')).toBe(0)
    expect(gateway.stderr().match(/"loginGuard":"local","msg":"serving"/g)).toHaveLength(1)
  },
)

test.skipIf(process.platform !== 'linux')(
  'when the first worker is killed at its start, the worker in its place checks and creates the database',
  async () => {
    const database = `file:${join(temporaryDirectory(), 'workspace.db')}`
    const path = join(temporaryDirectory(), 'kill.mjs')
    const condition = 'cluster.isWorker && cluster.worker.id === 1'
    writeFileSync(path, `import cluster from 'node:cluster'\nif (${condition}) process.kill(process.pid, 'SIGKILL')\n`)
    const env = { NODE_OPTIONS: `--import ${path}` }
    const gateway = await serveForTest(['--workers', '2', '--database', database], { env })
    expect(workersOf(gateway)).toHaveLength(2)
    expect(gateway.stderr()).toContain('"signal":"SIGKILL"')
    expect((await openSession(gateway.url, ANA)).accessToken).not.toBe('')
    expect(await gateway.kill('SIGTERM')).toBe(0)
  },
)

test.skipIf(process.platform !== 'linux')(
  'a worker that ends again and again is restarted with exponential backoff',
  async () => {
    const database = `file:${join(temporaryDirectory(), 'workspace.db')}`
    const env = endingWorkers('cluster.worker.id > 1')
    const args = ['serve', '--port', '0', '--workers', '2', '--database', database]
    const supervisor = spawn(process.execPath, [PROGRAM, ...args], { env: { ...process.env, ...env } })
    onTestFinished(() => {
      supervisor.kill('SIGKILL')
    })
    let [out, log] = ['', '']
    supervisor.stdout.on('data', (chunk) => {
      out += chunk
    })
    supervisor.stderr.on('data', (chunk) => {
      log += chunk
    })
    const pauses = () => [...log.matchAll(/"pauseMs":(\d+)/g)].map(([, pause]) => Number(pause))
    await expect.poll(pauses).toEqual([100, 200, 400])
    expect(out).toBe('')
    const ended = once(supervisor, 'close')
    supervisor.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  },
)

test.skipIf(process.platform !== 'linux')(
  'a worker that ends again and again soon after it listened is restarted with exponential backoff, too',
  async () => {
    const database = `file:${join(temporaryDirectory(), 'workspace.db')}`
    const path = join(temporaryDirectory(), 'end-later.mjs')
    writeFileSync(
      path,
      `import cluster from 'node:cluster'
      if (cluster.isWorker && cluster.worker.id > 1) {
        const { send } = process
        process.send = (message) => send.call(process, message, () => message.announcement && process.exit(7))
      }`,
    )
    const env = { NODE_OPTIONS: `--import ${path}` }
    const gateway = await serveForTest(['--workers', '2', '--database', database], { env })
    const pauses = () =>
      [...gateway.stderr().matchAll(/"pauseMs":(\d+),"msg":"a worker ended: /g)].map(([, ms]) => Number(ms))
    await expect.poll(() => pauses().slice(0, 4)).toEqual([100, 200, 400, 800])
    expect(await gateway.kill('SIGTERM')).toBe(0)
  },
)

test.skipIf(process.platform !== 'linux')(
  'a worker whose event loop hangs is ended and replaced, and the other worker stays and answers meanwhile',
  async () => {
    const database = `file:${join(temporaryDirectory(), 'workspace.db')}`
    await runHere(['import', '-', '--database', database], { stdin: SMALL_WORLD })
    const gateway = await serveForTest(['--workers', '2', '--worker-timeout', '3', '--database', database])
    const { accessToken } = await openSession(gateway.url, ANA)
    const [hung = 0, other = 0] = workersOf(gateway)
    process.kill(hung, 'SIGSTOP')
    await until(() => stateOf(hung) === 'T')
    const { stop } = load(gateway.url, accessToken, 2)
    await until(() => workersOf(gateway).length === 2 && !workersOf(gateway).includes(hung))
    expect(workersOf(gateway)).toContain(other)
    expect(Object.keys(await stop())).toEqual(['200'])
    const lines = () =>
      gateway
        .stderr()
        .split('\n')
        .filter((line) => line.includes(`"pid":${hung},`))
        .map((line) => JSON.parse(line))
    await expect.poll(lines).toMatchObject([
      { level: 50, timeoutSeconds: 3, msg: 'a worker does not answer: ending it' },
      { level: 50, msg: 'a worker ended: starting another' },
    ])

    // A worker that hangs delays neither the replacement of the others nor the shutdown.
    const [next = 0] = workersOf(gateway)
    process.kill(next, 'SIGSTOP')
    gateway.process.kill('SIGHUP')
    await until(() => gateway.stderr().includes('all workers were replaced'))
    const [last = 0] = workersOf(gateway)
    process.kill(last, 'SIGSTOP')
    expect(await gateway.kill('SIGTERM')).toBe(0)
  },
)

test.skipIf(process.platform !== 'linux')(
  'a worker that hangs before it listens does not delay the shutdown',
  async () => {
    const database = `file:${join(temporaryDirectory(), 'workspace.db')}`
    const flags = ['--workers', '2', '--worker-timeout', '600', '--shutdown-grace', '1', '--database', database]
    const gateway = await serveForTest(flags)
    const before = workersOf(gateway)
    process.kill(before[0] ?? 0, 'SIGKILL')
    const started = () => workersOf(gateway).find((pid) => !before.includes(pid))
    // Not before it runs its own program, because its parent waits for that.
    const own = commandOf(gateway.process.pid ?? 0)
    await until(() => started() !== undefined && commandOf(started() ?? 0) !== own)
    const pid = started() ?? 0
    process.kill(pid, 'SIGSTOP')
    // Until it is stopped, SIGTERM would end it like any process.
    await until(() => stateOf(pid) === 'T')
    expect(await gateway.kill('SIGTERM')).toBe(0)
    expect(gateway.stderr()).toContain('"timeoutSeconds":6,"msg":"a worker does not answer: ending it"')
  },
)

test.skipIf(process.platform !== 'linux')(
  'a worker that answers but does not end does not delay the replacement of the others',
  async () => {
    const database = `file:${join(temporaryDirectory(), 'workspace.db')}`
    const path = join(temporaryDirectory(), 'stay.mjs')
    const stay = 'process.exit = () => {}\nsetInterval(() => {}, 1000)'
    writeFileSync(path, `import cluster from 'node:cluster'\nif (cluster.worker?.id === 1) {\n${stay}\n}\n`)
    const flags = ['--workers', '2', '--shutdown-grace', '1', '--database', database]
    const gateway = await serveForTest(flags, { env: { NODE_OPTIONS: `--import ${path}` } })
    const before = workersOf(gateway)
    gateway.process.kill('SIGHUP')
    await until(() => gateway.stderr().includes('all workers were replaced'))
    expect(gateway.stderr()).toContain('"timeoutSeconds":6,"msg":"a worker does not answer: ending it"')
    expect(workersOf(gateway)).toHaveLength(2)
    expect(workersOf(gateway).filter((pid) => before.includes(pid))).toEqual([])
    expect(await gateway.kill('SIGTERM')).toBe(0)
  },
)
