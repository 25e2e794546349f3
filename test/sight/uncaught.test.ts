// Tests what the log and the other commands say of an exception that nobody expects, and how the process ends.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { run, serveForTest } from '../support/command-line.ts'
import { jsonLines } from '../support/json-lines.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until, workersOf } from '../workers/processes.ts'

const TOKEN = `wgr_${'a'.repeat(43)}`
const EMAIL = 'ana@example.com'
const SECRETS = [TOKEN, EMAIL]
const MESSAGE = 'an unexpected error ends the process'
const ERROR = `new Error('${TOKEN} of ${EMAIL}')`

/** The options of a Node that runs these statements before the program. */
function preloading(statements: string): string {
  const path = join(temporaryDirectory(), 'failing.mjs')
  writeFileSync(path, `${statements}\n`)
  return `--import ${path}`
}

/** Every process of the gateway runs the statement when it gets SIGUSR2. */
function serveFailing(statement: string, args: readonly string[] = []) {
  // Entries of the audit log are written at some time after the start.
  return serveForTest(['--log-level', 'warn', ...args], {
    cwd: temporaryDirectory(),
    env: { NODE_OPTIONS: preloading(`process.on('SIGUSR2', () => { ${statement} })`) },
  })
}

test.each([
  ['an exception', `throw ${ERROR}`, { name: 'Error', message: '[token] of [email]' }],
  ['a rejection', `Promise.reject(${ERROR})`, { name: 'Error', message: '[token] of [email]' }],
  [
    'a rejection with a text',
    `Promise.reject('${TOKEN} of ${EMAIL}')`,
    { code: 'ERR_UNHANDLED_REJECTION', message: expect.stringContaining('[token] of [email]') },
  ],
])('%s that nothing catches is one line of the log, without secrets, and the exit code is 1', async (_, fail, err) => {
  const serving = await serveFailing(fail)
  expect(await serving.kill('SIGUSR2')).toBe(1)
  const line = { level: 60, time: expect.any(String), err: expect.objectContaining(err), msg: MESSAGE }
  expect(jsonLines(serving.stderr())).toEqual([line])
  for (const secret of SECRETS) expect(serving.stderr()).not.toContain(secret)
})

test('it is readable where the log is', async () => {
  const serving = await serveFailing(`throw ${ERROR}`, ['--access-log', 'pretty'])
  expect(await serving.kill('SIGUSR2')).toBe(1)
  const [first, ...frames] = serving.stderr().trimEnd().split('\n')
  expect(first).toMatch(
    /fatal\S* an unexpected error ends the process err\.name=Error err\.message="\[token\] of \[email\]"$/,
  )
  expect(frames.filter((frame) => !/^ {4}at /.test(frame))).toEqual([])
  for (const secret of SECRETS) expect(serving.stderr()).not.toContain(secret)
})

test.skipIf(process.platform !== 'linux')('a worker writes it too, and is replaced', async () => {
  const serving = await serveFailing(`throw ${ERROR}`, ['--workers', '2'])
  const [worker = 0] = workersOf(serving)
  process.kill(worker, 'SIGUSR2')
  await until(() => serving.stderr().includes('a worker ended'))
  expect(jsonLines(serving.stderr())).toMatchObject([
    { level: 60, msg: MESSAGE, err: { message: '[token] of [email]' } },
    { level: 50, msg: 'a worker ended: starting another', pid: worker, exitCode: 1 },
  ])
  for (const secret of SECRETS) expect(serving.stderr()).not.toContain(secret)
})

test.each([
  ['that the command meets', `throw ${ERROR}`],
  ['that nothing catches', `setImmediate(() => { throw ${ERROR} }); return true`],
])('an error %s is one line of stderr that says where it happened, without secrets', async (_, fail) => {
  const env = { NODE_OPTIONS: preloading(`process.stdout.write = () => { ${fail} }`) }
  const { exitCode, stderr } = await run(['config', 'print'], { cwd: temporaryDirectory(), env })
  expect(exitCode).toBe(1)
  expect(stderr).toMatch(
    /^unexpected error: \[token\] of \[email\] \(at failing\.mjs:1:\d+.*\)\. This may be a bug: report this line, with the version and the command\n$/,
  )
})
