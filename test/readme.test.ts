// The README's first session, pasted line by line into one shell.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { messageOf, statusOf } from '../src/errors.ts'
import { READ_ROUTES, SESSION_ROUTES } from '../src/rest/routes.ts'
import { run, serveForTest } from './support/command-line.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const MARK = '--- next ---'

const hasShell = ['curl', 'sed', 'sh'].every((program) => spawnSync(program, ['--help']).error === undefined)
if (!hasShell) console.warn('skipped: the README session needs curl, sed and sh')

test.skipIf(!hasShell)('the first session answers what it shows', async () => {
  const { url } = await serveForTest([], { cwd: temporaryDirectory() })
  const section = /## A first session\n(.*?)\n## /s.exec(README)?.[1] ?? ''
  const steps = [...section.matchAll(/```sh\n(.*?)\n```(?:\n\n```json\n(.*?)\n```)?/gs)]
  expect(steps.length).toBeGreaterThan(8)
  const script = steps
    .map(([, command = '']) => `${command.replaceAll('http://127.0.0.1:4000', url)}\necho; echo '${MARK}'`)
    .join('\n')
  const { stdout } = spawnSync('sh', ['-c', script], { encoding: 'utf8' })
  const outputs = stdout.split(`${MARK}\n`)
  steps.forEach(([, command, shown = ''], index) => {
    expect(matches(outputs[index]?.trim() ?? '', shown), `${command}\n${outputs[index]}`).toBe(true)
  })
})

test('the route table is the route table', () => {
  for (const { method, path, twin } of [...SESSION_ROUTES, ...READ_ROUTES]) {
    const row = README.split('\n').find(
      (line) => line.startsWith('|') && line.includes(path) && line.includes(`\`${twin}\``),
    )
    expect(row, `${method} ${path}`).toContain(method)
  }
})

test('the table of codes is the table of failures', () => {
  const rows = [
    ...(/\| status \| codes \|\n\|---\|---\|\n((?:\|.*\n)+)/.exec(README)?.[1] ?? '').matchAll(
      /^\| ([\d, ]+) \| (.*) \|$/gm,
    ),
  ]
  const shown = rows.flatMap(([, statuses = '', codes = '']) =>
    [...codes.matchAll(/`([A-Z_]+)`/g)].map(([, code = '']) => ({ code, statuses })),
  )
  const source = readFileSync(new URL('../src/errors.ts', import.meta.url), 'utf8')
  const codes = [...source.matchAll(/^ {2}([A-Z_]+): \[/gm)].map(([, code = '']) => code)
  expect(shown.map(({ code }) => code).toSorted()).toEqual(codes.toSorted())
  for (const { code, statuses } of shown) {
    expect(statuses).toContain(String(statusOf(code as Parameters<typeof statusOf>[0])))
    expect(messageOf(code as Parameters<typeof messageOf>[0])).not.toBe('')
  }
})

test('every option of serve is in the table of options or has its own place', async () => {
  const { stdout } = await run(['serve', '--help'])
  for (const [, flag = ''] of stdout.matchAll(/^ {2}(--[a-z-]+)/gm))
    expect(README.includes(`\`${flag}\``), flag).toBe(true)
})

/** `…` stands for anything. */
function matches(text: string, pattern: string): boolean {
  const parts = pattern.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 's').test(text)
}
