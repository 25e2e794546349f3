// Tests the README's first session: pastes it line by line into one shell.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { serveForTest } from './support/command-line.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'

const README = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
const MARK = '--- next ---'

const hasShell = ['curl', 'sed', 'sh'].every((program) => spawnSync(program, ['--help']).error === undefined)
if (!hasShell) console.warn('skipped: the README session needs curl, sed and sh')

test.skipIf(!hasShell)('the first session prints what the README shows', async () => {
  const { url } = await serveForTest([], { cwd: temporaryDirectory() })
  const section = /## A first session\n(.*?)\n## /s.exec(README)?.[1] ?? ''
  const steps = [...section.matchAll(/```sh\n(.*?)\n```(?:\n\n```json\n(.*?)\n```)?/gs)]
  expect(steps.length).toBeGreaterThan(7)
  const script = steps
    .map(([, command = '']) => `${command.replaceAll('http://127.0.0.1:4000', url)}\necho; echo '${MARK}'`)
    .join('\n')
  const { stdout } = spawnSync('sh', ['-c', script], { encoding: 'utf8' })
  const outputs = stdout.split(`${MARK}\n`)
  steps.forEach(([, command, shown = ''], index) => {
    expect(matches(outputs[index]?.trim() ?? '', shown), `${command}\n${outputs[index]}`).toBe(true)
  })
})

/** `…` in the pattern matches anything. */
function matches(text: string, pattern: string): boolean {
  const parts = pattern.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`, 's').test(text)
}
