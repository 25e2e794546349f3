// Tests SIGHUP: a gateway with workers serves as its changed file says, and continues unchanged if the file is wrong.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { serveForTest } from '../support/command-line.ts'
import { ask } from '../support/gateway.ts'
import { jsonLines } from '../support/json-lines.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

test.skipIf(process.platform !== 'linux')(
  'SIGHUP applies a changed file, ignores a file with a mistake, and refuses no request meanwhile',
  async () => {
    const path = join(temporaryDirectory(), 'gateway.yaml')
    const write = (basePath: string, more = '') =>
      writeFileSync(path, `serve:\n  workers: 2\n  no-demo: true\n  base-path: ${basePath}\n${more}`)
    write('/one')
    const gateway = await serveForTest(['--config', path], { cwd: temporaryDirectory() })
    const { pid } = gateway.process
    const workers = () => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
    const statusOf = async (basePath: string) => (await ask(`${gateway.url}${basePath}/readyz`)).status
    const count = (message: string) => gateway.stderr().split(message).length - 1
    const requests = keepAsking(`${gateway.url}/one/readyz`)
    expect(await statusOf('/one')).toBe(200)

    const before = workers()
    write('/two', '  base-paht: /three\n')
    gateway.process.kill('SIGHUP')
    await expect.poll(() => count('the others continue unchanged')).toBe(1)
    expect([workers(), await statusOf('/one'), await statusOf('/two')]).toEqual([before, 200, 404])

    write('/two')
    gateway.process.kill('SIGHUP')
    await expect.poll(() => count('all workers were replaced')).toBe(1)
    // The mistake is one line in the log.
    const failures = jsonLines(gateway.stderr()).filter(({ level }) => level >= 40)
    expect(failures).toMatchObject([
      {
        level: 50,
        exitCode: 2,
        reason: `${path}:5: base-paht: serve does not have this option; did you mean base-path?`,
        replaced: 0,
        kept: 2,
        msg: 'a new worker did not start: the others continue unchanged',
      },
    ])
    expect(workers().filter((worker) => before.includes(worker))).toEqual([])
    expect([await statusOf('/one'), await statusOf('/two')]).toEqual([404, 200])
    // Every request was answered, by one configuration or the other.
    const statuses = await requests.stop()
    expect([...new Set(statuses)].toSorted()).toEqual([200, 404])
    expect(await gateway.kill('SIGTERM')).toBe(0)
  },
)

test.skipIf(process.platform !== 'linux')(
  'a failed replacement is logged with the number of replaced workers, and so is a later failed start',
  async () => {
    const directory = temporaryDirectory()
    const path = join(directory, 'gateway.yaml')
    const write = (more: string) => writeFileSync(path, `serve:\n  workers: 2\n  no-demo: true\n${more}`)
    write('')
    const gateway = await serveForTest(['--config', path], { cwd: directory })
    const { pid } = gateway.process
    const workers = () => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
    const lineWith = (part: string) => jsonLines(gateway.stderr()).find(({ msg }) => msg.includes(part))
    const before = workers()
    const [first = '', second = ''] = before
    // The first worker cannot end yet, so a change after its successor listens reaches only the second worker.
    process.kill(Number(first), 'SIGSTOP')
    write('  base-path: /two\n')
    gateway.process.kill('SIGHUP')
    const askTwo = () => ask(`${gateway.url}/two/readyz`, { headers: { connection: 'close' } })
    await expect.poll(async () => (await askTwo()).status).toBe(200)
    write('  prot: 1\n')
    process.kill(Number(first), 'SIGCONT')
    await expect.poll(() => lineWith('the others continue unchanged')).toMatchObject({ replaced: 1, kept: 1 })
    expect(workers()).toContain(second)
    expect(workers()).not.toContain(first)
    expect(gateway.stderr()).not.toContain('all workers were replaced')

    process.kill(Number(second), 'SIGKILL')
    await expect
      .poll(() => lineWith('ended before it was ready'))
      .toMatchObject({
        level: 50,
        exitCode: 2,
        reason: expect.stringContaining(':4: prot: serve does not have this option'),
      })
    expect(await gateway.kill('SIGTERM')).toBe(0)
  },
)

test('a gateway without workers is not reloaded: SIGHUP ends it, like any process', async () => {
  const gateway = await serveForTest(['--no-demo'], { cwd: temporaryDirectory() })
  expect(await gateway.kill('SIGHUP')).toBeNull()
  expect(gateway.process.signalCode).toBe('SIGHUP')
})

/** Sends requests one after the other, each on a new connection. Rejects if one gets no answer. */
function keepAsking(url: string) {
  let isOver = false
  const statuses: number[] = []
  async function askOn(): Promise<void> {
    while (!isOver) {
      statuses.push((await ask(url, { headers: { connection: 'close' } })).status)
      await delay(5)
    }
  }
  const asking = askOn()
  asking.catch(() => {})
  return {
    async stop() {
      isOver = true
      await asking
      return statuses
    },
  }
}
