// Tests what a reload changes and what it keeps: the supervisor uses the options that its workers have read.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serveForTest } from '../support/command-line.ts'
import { freePort } from '../support/free-port.ts'
import { ask } from '../support/gateway.ts'
import { PROGRAM } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const OFTEN = { interval: 1 }

async function start(first: string) {
  const directory = temporaryDirectory()
  const path = join(directory, 'gateway.yaml')
  const write = (more: string) => writeFileSync(path, `serve:\n  workers: 2\n  no-demo: true\n${more}`)
  write(first)
  const gateway = await serveForTest(['--config', path], { cwd: directory })
  const { pid } = gateway.process
  const count = (message: string) => gateway.stderr().split(message).length - 1
  let reloads = 0
  return {
    gateway,
    write,
    count,
    workers: () => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' '),
    async reload() {
      reloads += 1
      gateway.process.kill('SIGHUP')
      await expect.poll(() => count('all workers were replaced'), OFTEN).toBe(reloads)
    },
  }
}

test.skipIf(process.platform !== 'linux')(
  'an admin port that is removed from the file still answers, and a new warning is logged once',
  async () => {
    const port = await freePort('127.0.0.1')
    const { gateway, write, count, reload } = await start(`  admin-port: ${port}\n`)
    const readyz = () => ask(`http://127.0.0.1:${port}/readyz`)
    expect((await readyz()).status).toBe(200)
    expect(count('anyone who can reach this port')).toBe(0)
    write('  login-guard: open\n')
    await reload()
    expect((await readyz()).status).toBe(200)
    expect((await ask(`http://127.0.0.1:${port}/metrics`)).text).toContain('workspace_gateway_ready 1')
    expect(count('anyone who can reach this port')).toBe(1)
    await reload()
    expect(count('anyone who can reach this port')).toBe(1)
    expect(await gateway.kill('SIGTERM')).toBe(0)
  },
)

test.skipIf(process.platform !== 'linux')('workers get the shutdown time of the file that they have read', async () => {
  const { gateway, write, count, reload } = await start('  shutdown-grace: 0\n')
  write('  shutdown-delay: 7\n  shutdown-grace: 0\n')
  await reload()
  expect(await gateway.kill('SIGTERM')).toBe(0)
  expect(count('a worker does not answer')).toBe(0)
})

test.skipIf(process.platform !== 'linux')(
  'a worker that is starting when the file changes is replaced too',
  async () => {
    const { gateway, write, workers, reload } = await start('  base-path: /one\n')
    const before = workers()
    process.kill(Number(before[0]), 'SIGKILL')
    const isNew = (pid: string) => !before.includes(pid)
    await expect.poll(() => workers().some(isNew), OFTEN).toBe(true)
    const starting = workers().find(isNew) ?? ''
    // The worker has read the file, and does not listen yet.
    await expect.poll(() => hasOpened(starting, 'workspace.db'), OFTEN).toBe(true)
    process.kill(Number(starting), 'SIGSTOP')
    write('  base-path: /two\n')
    const reloaded = reload()
    await expect.poll(() => gateway.stderr(), OFTEN).toContain('replacing all workers')
    process.kill(Number(starting), 'SIGCONT')
    await reloaded
    expect(workers()).not.toContain(starting)
    for (let asked = 0; asked < 20; asked += 1) {
      const { status } = await ask(`${gateway.url}/two/readyz`, { headers: { connection: 'close' } })
      expect(status).toBe(200)
    }
    expect(await gateway.kill('SIGTERM')).toBe(0)
  },
)

test('workers refuse a configuration that only one process can read', async () => {
  const directory = temporaryDirectory()
  const pipe = `printf 'serve:\\n  workers: 2\\n  port: 0\\n' | "$1" "$2" serve --config /dev/stdin`
  const args = ['-c', pipe, 'sh', process.execPath, PROGRAM]
  const { status, stdout, stderr } = spawnSync('sh', args, { cwd: directory, encoding: 'utf8', timeout: 240_000 })
  expect([status, stdout]).toEqual([2, ''])
  expect(stderr).toContain('--config: /dev/stdin is not a file, but with --workers every worker must read it')
  expect(readdirSync(directory)).toEqual([])
})

test('workers accept an empty configuration file', async () => {
  const gateway = await serveForTest(['--workers', '2', '--no-demo', '--config', '/dev/null'], {
    cwd: temporaryDirectory(),
  })
  expect((await ask(`${gateway.url}/readyz`)).status).toBe(200)
  expect(await gateway.kill('SIGTERM')).toBe(0)
})

function hasOpened(pid: string, name: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`).endsWith(name))
  } catch {
    // The process opens and closes other files meanwhile.
    return false
  }
}
