// A supervisor outlives what happens to its workers, and has as many as it was asked for.
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { serveForTest } from '../support/command-line.ts'
import { ask } from '../support/gateway.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { commandOf, stateOf, until, workersOf } from './processes.ts'

/** With a `--worker-timeout` of a second. */
const QUESTION_MS = 250

function databaseOption(): readonly string[] {
  return ['--database', `file:${join(temporaryDirectory(), 'workspace.db')}`]
}

describe.skipIf(process.platform !== 'linux')('a supervisor', () => {
  test('goes on when a worker was killed that it is about to ask something', async () => {
    const gateway = await serveForTest(['--workers', '2', '--worker-timeout', '1', ...databaseOption()])
    const supervisor = gateway.process.pid ?? 0
    const [victim = 0, other] = workersOf(gateway)
    process.kill(supervisor, 'SIGSTOP')
    await until(() => stateOf(supervisor) === 'T')
    process.kill(victim, 'SIGKILL')
    await until(() => stateOf(victim) === 'Z')
    // Its next question is due then, and timers come before what has arrived.
    const stoodStillSince = performance.now()
    await until(() => performance.now() - stoodStillSince > QUESTION_MS)
    process.kill(supervisor, 'SIGCONT')
    await until(() => workersOf(gateway).length === 2 && !workersOf(gateway).includes(victim))
    expect(workersOf(gateway)).toContain(other)
    expect((await ask(`${gateway.url}/readyz`)).status).toBe(200)
    expect(await gateway.kill('SIGTERM')).toBe(0)
  })

  test('goes on when no process can be started, and starts one once that is possible', async () => {
    const gateway = await serveForTest(['--workers', '2', ...databaseOption()])
    const { pid } = gateway.process
    const [victim = 0, other] = workersOf(gateway)
    const limitOpenFiles = (count: number) => execFileSync('prlimit', ['--pid', String(pid), `--nofile=${count}:`])
    // What it has open stays open.
    limitOpenFiles(readdirSync(`/proc/${pid}/fd`).length - 3)
    process.kill(victim, 'SIGKILL')
    await until(() => gateway.stderr().split('a worker ended before it listened').length > 2)
    expect(gateway.stderr()).toMatch(/"reason":"it could not be started: spawn \S+ EMFILE"/)
    expect(workersOf(gateway)).toEqual([other])
    expect((await ask(`${gateway.url}/readyz`)).status).toBe(200)
    limitOpenFiles(1_024)
    await until(() => workersOf(gateway).length === 2)
    expect(await gateway.kill('SIGTERM')).toBe(0)
  })

  test('has no worker too many when one is killed while another one starts in its place', async () => {
    const gateway = await serveForTest(['--workers', '2', ...databaseOption()])
    const before = workersOf(gateway)
    const [victim = 0] = before
    const started = () => workersOf(gateway).find((pid) => !before.includes(pid)) ?? 0
    gateway.process.kill('SIGHUP')
    // Not before it runs its own program: whoever starts it waits for that.
    await until(() => started() !== 0 && commandOf(started()) !== commandOf(gateway.process.pid ?? 0))
    const successor = started()
    process.kill(successor, 'SIGSTOP')
    process.kill(victim, 'SIGKILL')
    await until(() => gateway.stderr().includes('"a worker ended: starting another"'))
    process.kill(successor, 'SIGCONT')
    await until(() => gateway.stderr().includes('all workers were replaced'))
    expect(workersOf(gateway)).toHaveLength(2)
    expect(workersOf(gateway)).not.toContain(victim)
    expect(await gateway.kill('SIGTERM')).toBe(0)
  })
})
