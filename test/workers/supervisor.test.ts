// Tests that a supervisor survives what happens to its workers, and keeps as many as it was asked for; and that a gateway
// is no worker of another program.
import { type ChildProcess, execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { serve, serveForTest } from '../support/command-line.ts'
import { ask } from '../support/gateway.ts'
import { PROGRAM } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { commandOf, stateOf, until, workersOf } from './processes.ts'

/** The interval of the supervisor's questions with a `--worker-timeout` of a second. */
const QUESTION_MS = 250

function databaseOption(): readonly string[] {
  return ['--database', `file:${join(temporaryDirectory(), 'workspace.db')}`]
}

/** Makes the supervisor run `code` first; in it, `cluster` is the module. */
function inSupervisor(code: string): { readonly env: Readonly<Record<string, string>> } {
  const path = join(temporaryDirectory(), 'supervisor.mjs')
  writeFileSync(path, `import cluster from 'node:cluster'\nif (cluster.isPrimary) ${code}\n`)
  return { env: { NODE_OPTIONS: `--import ${path}` } }
}

describe.skipIf(process.platform !== 'linux')('a supervisor', () => {
  test('survives when a worker is killed just before the supervisor asks it something', async () => {
    const gateway = await serveForTest(['--workers', '2', '--worker-timeout', '1', ...databaseOption()])
    const supervisor = gateway.process.pid ?? 0
    const [victim = 0, other] = workersOf(gateway)
    process.kill(supervisor, 'SIGSTOP')
    await until(() => stateOf(supervisor) === 'T')
    process.kill(victim, 'SIGKILL')
    await until(() => stateOf(victim) === 'Z')
    // Then the next question is due, and timers run before messages that have arrived.
    const stoodStillSince = performance.now()
    await until(() => performance.now() - stoodStillSince > QUESTION_MS)
    process.kill(supervisor, 'SIGCONT')
    await until(() => workersOf(gateway).length === 2 && !workersOf(gateway).includes(victim))
    expect(workersOf(gateway)).toContain(other)
    expect((await ask(`${gateway.url}/readyz`)).status).toBe(200)
    expect(await gateway.kill('SIGTERM')).toBe(0)
  })

  test('survives when no process can be started, and starts one once that is possible', async () => {
    const tellKept = "process.on('exit', () => process.stderr.write('kept: ' + Object.keys(cluster.workers).length))"
    const gateway = await serveForTest(['--workers', '2', ...databaseOption()], inSupervisor(tellKept))
    const { pid } = gateway.process
    const [victim = 0, other] = workersOf(gateway)
    const limitOpenFiles = (count: number) => execFileSync('prlimit', ['--pid', String(pid), `--nofile=${count}:`])
    // Open files stay open, and stdin, stdout and stderr use up the limit.
    limitOpenFiles(3)
    process.kill(victim, 'SIGKILL')
    await until(() => gateway.stderr().split('a worker ended before it was ready').length > 2)
    expect(gateway.stderr()).toMatch(/"reason":"could not be started: spawn \S+ EMFILE"/)
    expect(workersOf(gateway)).toEqual([other])
    expect((await ask(`${gateway.url}/readyz`)).status).toBe(200)
    limitOpenFiles(1_024)
    await until(() => workersOf(gateway).length === 2)
    expect(await gateway.kill('SIGTERM')).toBe(0)
    expect(gateway.stderr()).toMatch(/^kept: 0$/m)
  })

  test.each([
    ['is missing', () => join(temporaryDirectory(), 'node'), 'ENOENT'],
    ['may not be executed', () => temporaryDirectory(), 'EACCES'],
  ])('ends with one sentence when the program of its first worker %s', async (_, pathOf, code) => {
    const path = pathOf()
    let supervisor: ChildProcess | undefined
    const serving = serve(
      ['--workers', '2', ...databaseOption()],
      inSupervisor(`process.execPath = ${JSON.stringify(path)}`),
      (child) => {
        supervisor = child
        onTestFinished(() => void child.kill('SIGKILL'))
      },
    )
    const sentence = `the first worker could not be started: spawn ${path} ${code}\n`
    await expect(serving).rejects.toThrow(`serve ended before it listened: ${sentence}`)
    expect(supervisor?.exitCode).toBe(1)
  })

  test('has no extra worker after one was killed while its successor started', async () => {
    const gateway = await serveForTest(['--workers', '2', ...databaseOption()])
    const before = workersOf(gateway)
    const [victim = 0] = before
    const started = () => workersOf(gateway).find((pid) => !before.includes(pid)) ?? 0
    gateway.process.kill('SIGHUP')
    // Waits until the successor runs its own program, because the process that starts it waits for that too.
    await until(() => started() !== 0 && commandOf(started()) !== commandOf(gateway.process.pid ?? 0))
    const successor = started()
    process.kill(successor, 'SIGSTOP')
    process.kill(victim, 'SIGKILL')
    await until(() => gateway.stderr().includes('"a worker ended: another one is starting in its place"'))
    process.kill(successor, 'SIGCONT')
    await until(() => gateway.stderr().includes('all workers were replaced'))
    expect(workersOf(gateway)).toHaveLength(2)
    expect(workersOf(gateway)).not.toContain(victim)
    expect(gateway.stderr()).not.toContain('starting another')
    expect(await gateway.kill('SIGTERM')).toBe(0)
  })
})

test('a worker of another program’s cluster says that it has to be started by itself', async () => {
  const serving = JSON.stringify(['serve', '--port', '0', '--login-guard', 'open', ...databaseOption()])
  // As PM2 does with `exec_mode: 'cluster'`.
  const manager = `cluster.setupPrimary({ exec: ${JSON.stringify(PROGRAM)}, args: ${serving}, execArgv: [] }); cluster.fork().on('exit', process.exit)`
  const { status, stdout, stderr } = spawnSync(process.execPath, ['-e', manager], {
    encoding: 'utf8',
    timeout: 120_000,
  })
  expect([status, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(/^another program started this process as a worker .* exec_mode fork.* --workers .*\n$/)
})
