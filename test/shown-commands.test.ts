// The command lines that the documentation shows: each one exists, and those that need nothing else are run.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { createProgram } from '../src/cli/command-line.ts'
import { serveForTest } from './support/command-line.ts'
import { createWorkspace } from './support/import-workspace.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const DOCS = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
const PAGES = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...DOCS.map((file) => join('docs', file))].filter(
  (file) => file.endsWith('.md'),
)
const PROGRAM =
  /^(?:(?:npx |node_modules\/\.bin\/)workspace-gateway|(?:node_modules\/\.bin\/)?node src\/main\.ts|.*\/opt\/workspace-gateway\/\S+\/workspace-gateway(?:\.cjs)?) (.*)$/gm

test('every command that the documentation shows exists and has the options shown', () => {
  const shown = PAGES.flatMap((page) => commandsOf(page).map((line) => ({ page, line })))
  expect(shown.length).toBeGreaterThan(40)
  expect(shown.filter(({ line }) => !isKnown(line))).toEqual([])
})

test.each(['docs/operate/one-machine.md', 'docs/operate/workers.md'])(
  'the gateways of %s start and answer',
  async (page) => {
    const commands = commandsOf(page)
    expect(commands.length).toBeGreaterThan(0)
    for (const line of commands) {
      const cwd = temporaryDirectory()
      const [, ...args] = line.replace('file:/var/lib/workspace/', 'file:./').split(' ')
      const { url } = await serveForTest(args, { cwd })
      expect((await fetch(`${url}/readyz`)).status).toBe(200)
    }
  },
)

test('the import command of README.md imports the records of README.md', async () => {
  const records = /```json\n(\{"kind":.*?\n)```/s.exec(read('README.md'))?.[1] ?? ''
  const workspace = createWorkspace()
  const file = workspace.write('workspaces.ndjson', records)
  const [command = ''] = commandsOf('README.md').filter((line) => line.startsWith('import'))
  const { exitCode, stderr } = await workspace.run(
    ...command.split(' ').map((arg) => (arg.endsWith('.ndjson') ? file : arg)),
  )
  expect([exitCode, stderr]).toEqual([0, ''])
  expect(await workspace.dump()).toBe(records)
})

function read(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8')
}

/** Each command line from the name of the command on, joined into one line. */
function commandsOf(page: string): readonly string[] {
  const text = read(page).replaceAll(/ \\\n */g, ' ')
  return [...text.matchAll(PROGRAM)].map(([, args = '']) => args)
}

/** Whether the program has the command and the command each given option. Arguments are split as in a shell. */
function isKnown(line: string): boolean {
  const args = [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([word, single, double]) => single ?? double ?? word,
  )
  const nowhere = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() }
  let command: Command = createProgram({ ...nowhere, isTerminal: false, clock: Date.now }, process, () => {})
  while (command.commands.length > 0) {
    const name = args.shift()
    const found = command.commands.find((candidate) => candidate.name() === name)
    if (!found) return false
    command = found
  }
  const { operands, unknown } = command.parseOptions(args)
  const required = command.registeredArguments.filter((argument) => argument.required).length
  return unknown.length === 0 && operands.length >= required
}
