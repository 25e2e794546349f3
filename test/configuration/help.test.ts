// Tests the headings of --help: each option is under exactly one, the most used first, as on the page of all options.
import { readFileSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { createProgram } from '../../src/cli/command-line.ts'
import { createDescribedCommands } from '../../src/cli/configuration/described-commands.ts'
import { longName } from '../../src/cli/options/option.ts'
import { runHere } from '../support/command-line.ts'

/** A command with more options than this has headings. */
const MAX_IN_ONE_LIST = 12
const PAGE = readFileSync(new URL('../../docs/guide/configuration.md', import.meta.url), 'utf8')
const COMMANDS = describedCommands()

test('serve has a heading for each area, and the most used options come first', async () => {
  const sections = await helpOf('serve')
  expect([...sections.keys()]).toEqual([
    'Options',
    'Database',
    'Proxies and origins',
    'Login guard mail',
    'Login guard assertion',
    'Sessions, tokens and keys',
    'Rate limits',
    'GraphQL',
    'Memory and overload',
    'Workers and shutdown',
    'Metrics, logs and traces',
    'Audit log',
    'Import over HTTP',
    'Retiring REST',
    'Shadowing the old server',
    'Global Options',
  ])
  expect(sections.get('Options')).toEqual([
    '--host',
    '--port',
    '--base-path',
    '--database',
    '--login-guard',
    '--workers',
    '--log-level',
    '--config',
    '--help',
  ])
  expect(sections.get('Database')).toContain('--lock-timeout')
  expect(sections.get('GraphQL')).toContain('--introspection')
  expect(await helpOf('config check')).toEqual(sections)
})

test('doctor has its own options before those of serve', async () => {
  const [doctor, serve] = await Promise.all([helpOf('doctor'), helpOf('serve')])
  expect([...doctor.keys()]).toEqual([...serve.keys()])
  expect(doctor.get('Options')?.slice(0, 2)).toEqual(['--format', '--look'])
})

describe.each(COMMANDS)('$name', ({ name, options }) => {
  test('has each option under exactly one heading', async () => {
    const shown = Object.values(options).filter((row) => row.isEnvironmentOnly !== true)
    const sections = await helpOf(name)
    const listed = [...sections.values()].flat()
    expect(listed.toSorted()).toEqual([...shown.map((row) => `--${longName(row)}`), '--help', '--version'].toSorted())
    const lists = [...sections.values()].filter((flags) => !flags.includes('--version'))
    if (shown.length > MAX_IN_ONE_LIST) expect(lists.length).toBeGreaterThan(1)
  })

  test('has what it is mostly used with first, without a heading of its own', async () => {
    const sections = await helpOf(name)
    expect([...sections.keys()].at(0)).toBe('Options')
    expect(sections.get('Options')?.slice(-2)).toEqual(['--config', '--help'])
    expect([...sections.keys()].at(-1)).toBe('Global Options')
  })
})

test('the page of all options has the options of serve under the headings of its help', async () => {
  const [head = '', ...groups] = (/^## `serve`$(?<text>.*?)^## /ms.exec(PAGE)?.groups?.text ?? '').split(/^### /m)
  const flagsOf = (text: string) => Array.from(text.matchAll(/^\| `(--[a-z-]+)/gm), ([, flag]) => flag)
  const onPage = new Map([['Options', flagsOf(head)]])
  for (const text of groups) onPage.set(text.split('\n', 1).join(), flagsOf(text))
  const sections = await helpOf('serve')
  sections.delete('Global Options')
  sections.set('Options', sections.get('Options')?.filter((flag) => flag !== '--help') ?? [])
  expect([...onPage]).toEqual([...sections])
})

/** The flags under each heading of the help of a command, both in their order. */
async function helpOf(command: string): Promise<Map<string, string[]>> {
  const { exitCode, stdout } = await runHere([...command.split(' '), '--help'])
  expect(exitCode).toBe(0)
  const sections = new Map<string, string[]>()
  let flags: string[] = []
  for (const line of stdout.split('\n')) {
    const heading = /^(?<name>\S.*):$/.exec(line)?.groups?.name
    const flag = /^ {2}(?:-[a-zA-Z], )?(?<flag>--[a-z-]+)/.exec(line)?.groups?.flag
    if (heading !== undefined) {
      // A heading that came twice would lose the options under the first.
      expect(sections.has(heading), heading).toBe(false)
      flags = []
      sections.set(heading, flags)
    }
    if (flag !== undefined) flags.push(flag)
  }
  for (const empty of ['Arguments', 'Not as an argument']) {
    expect(sections.get(empty) ?? []).toEqual([])
    sections.delete(empty)
  }
  return sections
}

function describedCommands() {
  const commands = createDescribedCommands()
  const io = {
    stdin: new PassThrough(),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    isTerminal: false,
    clock: Date.now,
  }
  createProgram(io, process, () => {}, commands)
  return commands.all()
}
