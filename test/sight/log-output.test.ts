// Tests that everything a process wrote to its log before it exited is there.
import { spawnSync } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const SOURCE = new URL('../../src/cli/sight/log-output.ts', import.meta.url)
const LINES = ['first\n', 'second\n', 'last\n']
const PROGRAM = `
  import { createLogOutput, oneWriteAtATime } from '${SOURCE}'
  const output = createLogOutput(oneWriteAtATime(process.stderr), () => {})
  for (const line of ${JSON.stringify(LINES)}) output.write(line)
  process.exit()
`

function run(stderr: 'pipe' | number): string | null {
  return spawnSync(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
    stdio: ['ignore', 'inherit', stderr],
    encoding: 'utf8',
  }).stderr
}

test('all lines written just before the exit reach a shared log, in a pipe and in a file', () => {
  expect(run('pipe')).toBe(LINES.join(''))
  const path = join(temporaryDirectory(), 'log')
  const file = openSync(path, 'w')
  run(file)
  closeSync(file)
  expect(readFileSync(path, 'utf8')).toBe(LINES.join(''))
})
