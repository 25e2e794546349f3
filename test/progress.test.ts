// Tests the progress line that long commands draw on a terminal.
import { spawnSync } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { runCommandLine } from '../src/cli/command-line.ts'
import { createProgress } from '../src/cli/progress.ts'
import { createWorkspace, EVE, elementLine, splitExportHead, templateLines } from './support/import-workspace.ts'
import { PROGRAM } from './support/program.ts'
import { ANA, documentLine } from './support/workspaces.ts'

const CLEAR_LINE = '\r\u001b[2K'
/** A line that is wider than the terminal is not wrapped, as only its last row would be cleared. Other output is. */
const WRAP_OFF = '\u001b[?7l'
const WRAP_ON = '\u001b[?7h'

const hasTerminal = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0
if (!hasTerminal) console.warn('skipped: a terminal of its own for a command needs script of util-linux')

/** A terminal, and everything that was written to it. */
function terminal() {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const written = text(stderr)
  return {
    io: { stdin: Readable.from([]), stdout, stderr, isTerminal: true, clock: Date.now },
    async written() {
      stderr.end()
      return written
    },
  }
}

test('an import that is stopped while it checks clears its progress line before it reports that', async () => {
  const workspace = createWorkspace()
  const path = workspace.write('input.ndjson', templateLines(0, 10_000).join(''))
  const signals = new EventEmitter()
  const { io, written } = terminal()
  io.stderr.once('data', () => signals.emit('SIGINT'))
  expect(await runCommandLine(['import', path, ...workspace.flags], io, signals)).toBe(1)
  const lines = (await written()).split(CLEAR_LINE)
  expect(lines.slice(0, 2)).toEqual(['', expect.stringMatching(/checking input\.ndjson \d+ % /)])
  expect(lines.at(-1)).toBe('stopped: run it again to continue\n')
})

test('a line that is not imported is reported on a line of its own', async () => {
  const workspace = createWorkspace()
  const path = workspace.write(
    'input.ndjson',
    splitExportHead('r', '2026-01-01T00:00:00Z', 'e') +
      elementLine('e', 'not JSON') +
      templateLines(0, 10_000).join('') +
      elementLine('e', '1'),
  )
  const { io, written } = terminal()
  expect(await runCommandLine(['import', path, '--keep-going', ...workspace.flags], io, new EventEmitter())).toBe(1)
  const reason = 'line 2, an element of the same export, is bad'
  expect(await written()).toContain(`${CLEAR_LINE}${path}:10003: ${reason}\n`)
})

test('import --replace --verbose reports each user on a line of its own', async () => {
  const workspace = createWorkspace()
  const input = documentLine('project', ANA, '{"id":"p"}') + documentLine('project', EVE, '{"id":"p"}')
  const path = workspace.write('input.ndjson', input)
  const { io, written } = terminal()
  const both = { ...io, stdout: io.stderr }
  const args = ['import', path, '--replace', '--verbose', ...workspace.flags]
  expect(await runCommandLine(args, both, new EventEmitter())).toBe(0)
  const lines = (await written()).replaceAll(CLEAR_LINE, '\n').split('\n')
  expect(lines).toContain(`${ANA}: 1 added, 0 replaced, 0 unchanged, 0 removed`)
  expect(lines).toContain(`${EVE}: 1 added, 0 replaced, 0 unchanged, 0 removed`)
})

test('the speed is given in records if there are any, otherwise in bytes', async () => {
  const { io, written } = terminal()
  createProgress(io, 'importing', 2_000_000).update(1_000_000, 10)
  createProgress(io, 'backing up', 2_000_000).update(1_000_000)
  const lines = (await written()).split(CLEAR_LINE + WRAP_OFF).map((line) => line.replace(WRAP_ON, ''))
  expect(lines[1]).toMatch(/^importing 50 % {2}1\.0 MB of 2\.0 MB {2}[\d,]+ records\/s {2}\d+ s left$/)
  expect(lines[2]).toMatch(/^backing up 50 % {2}1\.0 MB of 2\.0 MB {2}[\d.]+ [kMGT]B\/s {2}\d+ s left$/)
})

test.skipIf(!hasTerminal).each([
  ['dumb', false],
  ['xterm', true],
])('a progress line is drawn with escape codes, which no dumb terminal gets (TERM=%s)', (TERM, isDrawn) => {
  const workspace = createWorkspace()
  const path = workspace.write('input.ndjson', documentLine('project', ANA, '{"id":"p"}'))
  const command = [process.execPath, PROGRAM, 'import', path, ...workspace.flags].join(' ')
  const { stdout, status } = spawnSync('script', ['-qec', command, '/dev/null'], { env: { ...process.env, TERM } })
  expect([status, String(stdout)]).toEqual([0, expect.stringContaining('imported ')])
  expect(String(stdout).includes('\u001b')).toBe(isDrawn)
})
