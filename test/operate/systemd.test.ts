// Tests systemd: the socket that outlives a gateway, the notifications of a gateway, and the units of the package.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { readServiceManager } from '../../src/cli/serving/systemd/service-manager.ts'
import { serveForTest } from '../support/command-line.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import {
  type ActivatedGateway,
  askOnNewConnection,
  isInstalled,
  newTally,
  startActivated,
} from './socket-activation.ts'

const UNITS = fileURLToPath(new URL('../../packaging/systemd', import.meta.url))
/** Allows for many tests on two processors. */
const hasActivation = isInstalled('systemd-socket-activate') && existsSync('/proc/net/tcp')
const canListen = isInstalled('systemd-notify') && spawnSync('socat', ['-V']).error === undefined
if (!hasActivation) console.warn('systemd-socket-activate is missing: tests of socket activation are skipped')
if (!canListen) console.warn('systemd-notify or socat is missing: tests of what systemd is told are skipped')

async function activate(
  args: readonly string[],
  options: Parameters<typeof startActivated>[2] = {},
): Promise<ActivatedGateway> {
  const gateway = await startActivated(temporaryDirectory(), args, options)
  onTestFinished(gateway.stop)
  return gateway
}

describe.skipIf(!hasActivation)('a socket from systemd', () => {
  test.each([
    ['alone', '1'],
    ['with workers', '2'],
  ])('is served, %s, and no other port is opened', async (_, workers) => {
    const gateway = await activate(['--workers', workers, '--no-demo', '--port', '1'])
    expect(await (await fetch(`${gateway.url}/readyz`)).json()).toEqual({ status: 'ready' })
    await expect.poll(gateway.log).toContain(`listening on ${gateway.url}\n`)
  })

  test('determines whether others can reach the gateway, which then refuses the guard for this machine', async () => {
    const gateway = await activate([], { host: '0.0.0.0' })
    await fetch(`http://127.0.0.1:${gateway.port}/readyz`).catch(() => {})
    await expect.poll(gateway.log).toContain('--host 0.0.0.0 can be reached from other machines')
    expect(gateway.log()).not.toContain('listening on')
  })

  test('has a longer backlog than the default of Node', async () => {
    const gateway = await activate(['--no-demo'])
    await fetch(`${gateway.url}/readyz`)
    process.kill(gateway.pid(), 'SIGSTOP')
    const waiting = Array.from({ length: 1_000 }, () => connect(gateway.port, '127.0.0.1'))
    onTestFinished(() => waiting.forEach((socket) => void socket.destroy()))
    await Promise.all(waiting.map((socket) => once(socket, 'connect')))
  })

  test('keeps connections waiting while the gateway restarts, and refuses none', async () => {
    const gateway = await activate(['--no-demo'], { isRestarted: true })
    const tally = newTally()
    await askOnNewConnection(gateway.port, tally)
    const first = gateway.pid()
    const asking = new AbortController()
    const clients = Array.from({ length: 20 }, async () => {
      while (!asking.signal.aborted) await askOnNewConnection(gateway.port, tally)
    })
    await expect.poll(() => tally.answered).toBeGreaterThan(50)
    gateway.restart()
    await expect.poll(gateway.pid).not.toBe(first)
    const before = tally.answered
    await expect.poll(() => tally.answered).toBeGreaterThan(before + 100)
    asking.abort()
    await Promise.all(clients)
    expect(tally.failures).toEqual({})
  })
})

test('a gateway ignores sockets for another process', async () => {
  const { url } = await serveForTest(['--no-demo'], {
    cwd: temporaryDirectory(),
    env: { LISTEN_FDS: '1', LISTEN_PID: '1' },
  })
  expect((await fetch(`${url}/readyz`)).status).toBe(200)
})

test.skipIf(!canListen).each(['1', '2'])(
  'a gateway with %s workers notifies systemd of its start, its watchdog and its end',
  async (workers) => {
    const folder = temporaryDirectory()
    const path = join(folder, 'notify')
    const receiver = spawn('socat', [`UNIX-RECV:${path}`, '-'])
    onTestFinished(() => void receiver.kill())
    let heard = ''
    receiver.stdout.on('data', (chunk: Buffer) => {
      heard += chunk
    })
    await expect.poll(() => existsSync(path)).toBe(true)
    const env = { NOTIFY_SOCKET: path, WATCHDOG_USEC: '200000' }
    const { process: gateway, kill } = await serveForTest(['--no-demo', '--workers', workers], { cwd: folder, env })
    await expect.poll(() => heard).toMatch(/READY=1[\s\S]*WATCHDOG=1[\s\S]*WATCHDOG=1/)
    expect(heard).not.toContain('STOPPING=1')
    expect(await kill('SIGTERM')).toBe(0)
    await expect.poll(() => heard).toContain('STOPPING=1')
    expect(heard.match(/READY=1/g)).toHaveLength(1)
    expect(gateway.exitCode).toBe(0)
  },
)

test('more than one inherited socket is refused', () => {
  const env = { LISTEN_FDS: '2', LISTEN_PID: String(process.pid) }
  expect(() => readServiceManager(env, () => {})).toThrow('2 sockets were inherited')
  expect(readServiceManager({ ...env, LISTEN_PID: '1' }, () => {}).listenFd).toBeNull()
})

test.each([
  ['no process', undefined, 1],
  ['this process', process.pid, 1],
  ['another process', 1, 0],
])('a watchdog for %s is pinged after half of its time, or not at all', async (_, pid, pings) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  // Without systemd-notify, each ping fails.
  vi.stubEnv('PATH', '/nowhere')
  onTestFinished(() => {
    vi.useRealTimers()
    vi.unstubAllEnvs()
  })
  let failures = 0
  const env = { NOTIFY_SOCKET: '/nowhere', WATCHDOG_USEC: '20000000', WATCHDOG_PID: pid?.toString() }
  const manager = readServiceManager(env, () => {
    failures += 1
  })
  const start = performance.now()
  const watchdog = manager.startWatchdog()
  vi.advanceTimersToNextTimer()
  watchdog[Symbol.dispose]()
  expect(performance.now() - start).toBe(pings * 10_000)
  await expect.poll(() => failures).toBe(pings)
})

test('a gateway without systemd-notify serves, and logs that it is missing', async () => {
  const env = { NOTIFY_SOCKET: '/nowhere', PATH: '/nowhere' }
  const { url, stderr } = await serveForTest(['--no-demo'], { cwd: temporaryDirectory(), env })
  expect((await fetch(`${url}/readyz`)).status).toBe(200)
  await expect
    .poll(stderr)
    .toContain('systemd-notify failed: the service manager does not know the state of the gateway')
})

test.skipIf(!isInstalled('systemd-analyze'))(
  'systemd-analyze finds no error in the units, and a low exposure',
  async () => {
    const folder = temporaryDirectory()
    const files = readdirSync(UNITS).map((name) => join(folder, name))
    expect(files).toHaveLength(4)
    for (const file of files) {
      // The program that the units name is not installed here.
      const unit = readFileSync(join(UNITS, basename(file)), 'utf8').replace('/usr/bin/node', process.execPath)
      writeFileSync(file, unit)
    }
    expect(await analyze(['verify', '--man=no', ...files])).toEqual([0, ''])
    const services = files.filter((file) => file.endsWith('.service'))
    for (const service of services) {
      const [exitCode, , security] = await analyze(['security', '--offline=true', '--threshold=20', service])
      expect(security).toMatch(/Overall exposure level for workspace-gateway(-backup)?\.service: [0-2]\.\d/)
      expect(exitCode).toBe(0)
    }
    const sandboxes = services.map(
      (file) => /^CapabilityBoundingSet=$[\s\S]*^SystemCallErrorNumber=.*$/m.exec(readFileSync(file, 'utf8'))?.[0],
    )
    expect(sandboxes[0]).toEqual(expect.stringContaining('ProtectSystem=strict'))
    expect(sandboxes[1]).toBe(sandboxes[0])
  },
)

test('the units of the gateway and of its backup read the same options, from the same folder', () => {
  const [gateway, backup] = ['workspace-gateway.service', 'workspace-gateway-backup.service'].map((name) =>
    readFileSync(join(UNITS, name), 'utf8').match(/^(?:Environment|EnvironmentFile|WorkingDirectory)=.*$/gm),
  )
  expect(gateway).toHaveLength(3)
  expect(backup).toEqual(gateway)
})

async function analyze(args: readonly string[]): Promise<readonly [number | null, string, string?]> {
  const child = spawn('systemd-analyze', args, { env: { ...process.env, SYSTEMD_LOG_LEVEL: 'warning' } })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  const [exitCode] = await once(child, 'close')
  return stdout === '' ? [exitCode, stderr] : [exitCode, stderr, stdout]
}
