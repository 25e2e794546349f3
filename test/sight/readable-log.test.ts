// Tests the two forms of the log: readable at a terminal, and JSON elsewhere or on request.
import { EventEmitter } from 'node:events'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { stripVTControlCharacters } from 'node:util'
import { expect, test, vi } from 'vitest'
import { runCommandLine } from '../../src/cli/command-line.ts'
import { createReport } from '../../src/cli/log.ts'
import { serveForTest } from '../support/command-line.ts'
import { postJson } from '../support/gateway.ts'
import { logInMemory } from '../support/log-in-memory.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA } from '../support/workspaces.ts'

/** Returns what a gateway writes to stderr while one user signs in. */
async function saidOf(args: readonly string[], isTerminal: boolean): Promise<readonly string[]> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const said = text(stderr)
  const signals = new EventEmitter()
  const database = `file:${join(temporaryDirectory(), 'workspace.db')}`
  const io = { stdin: Readable.from([]), stdout, stderr, isTerminal, clock: Date.now }
  const ended = runCommandLine(['serve', '--port', '0', '--database', database, ...args], io, signals)
  for await (const chunk of stdout) {
    const url = /^listening on (\S+)$/m.exec(String(chunk))?.[1]
    if (url === undefined) continue
    expect((await postJson(`${url}/login`, { email: ANA })).status).toBe(200)
    break
  }
  signals.emit('SIGTERM')
  expect(await ended).toBe(0)
  stderr.end()
  return (await said).trimEnd().split('\n')
}

test('at a terminal, each line has the time, the level, the message and the fields by name', async () => {
  const lines = await saidOf([], true)
  const shape =
    /^\d\d:\d\d:\d\d\.\d{3} info {2}(?:there was no database at \S+: made an empty one|serving version=\d+\.\d+\.\d+ database=file:\S+ loginGuard=local|audit at=\S+ kind=\w+ result=done .+|stopping)$/
  for (const line of lines) expect(stripVTControlCharacters(line)).toMatch(shape)
  expect(lines.filter((line) => line.includes('serving'))).toHaveLength(1)
  expect(lines.join('\n')).toMatch(/kind=login result=done who=hmac-sha256:[0-9a-f]{32} network=127\.0\.0\.0\/24$/m)
})

test.each([
  [{ NO_COLOR: '1' }, false],
  [{ FORCE_COLOR: '0' }, false],
  [{ NO_COLOR: '1', FORCE_COLOR: '1' }, true],
])('with %j, the readable log has colours: %s', async (env, hasColours) => {
  for (const name of ['NO_COLOR', 'FORCE_COLOR']) vi.stubEnv(name, undefined)
  const serving = await serveForTest(['--no-demo', '--access-log', 'pretty'], { cwd: temporaryDirectory(), env })
  expect((await fetch(`${serving.url}/projects`)).status).toBe(401)
  expect(await serving.kill('SIGTERM')).toBe(0)
  const lines = serving.stderr().split('\n')
  const [request = '', stopping = ''] = ['/projects', 'stopping'].map((text) =>
    lines.find((line) => line.includes(text)),
  )
  expect([request, stopping]).not.toContain('')
  expect([request, stopping].map((line) => line.includes('\u001b'))).toEqual([hasColours, hasColours])
})

test.each([
  ['elsewhere', [], false],
  ['at a terminal with --access-log json', ['--access-log', 'json'], true],
] as const)('%s, each line is JSON', async (_where, args, isTerminal) => {
  for (const line of await saidOf(args, isTerminal)) expect(JSON.parse(line)).toHaveProperty('msg')
})

test('control characters are escaped at a terminal, and stack frames stand below the line', () => {
  const { log, written: said } = logInMemory({ isTerminal: true })
  const hostile = 'a\u001b[2J\u009b2J\u202eb\nc=d'
  createReport(log, () => 0)(Object.assign(new Error(hostile), { code: hostile }))
  const written = said()
  const [first = '', ...frames] = written.trimEnd().split('\n')
  expect(first).toContain(
    '\u001b[31merror\u001b[0m a request failed err.name=Error err.message="a\\u001b[2J\\u009b2J\\u202eb\\nc=d"',
  )
  expect(first).toMatch(/ incident=urn:uuid:[0-9a-f-]{36}$/)
  expect(frames.length).toBeGreaterThan(0)
  for (const frame of frames) expect(frame).toMatch(/^ {4}at /)
  const others = ['\u001b[31m', '\u001b[0m', '\n'].reduce((rest, ours) => rest.replaceAll(ours, ''), written)
  expect(others).toBe(others.replace(/[^ -~]/g, ''))
})

test('in JSON, no character that a terminal obeys is written as it is, and each line says the same', () => {
  const { log, written } = logInMemory({ isTerminal: false })
  const origin = 'https://a\u001b[2J\u007f\u0085\u009b2J\u2028\u202eb"\\c'
  log.warn({ origin }, 'refused')
  expect(written()).toMatch(/^[ -~]+\n$/)
  expect(JSON.parse(written())).toMatchObject({ origin, msg: 'refused' })
})
