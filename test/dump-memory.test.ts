// The memory that a dump takes for large documents and large elements of exports.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { run } from './support/command-line.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'
import { ANA, documentLine, exportLine } from './support/workspaces.ts'

const COUNT = 30
const HEAP_MB = 64

test.each([
  [
    'documents',
    Array.from({ length: COUNT }, (_, at) => documentLine('template', ANA, `{"id":"t${at}","text":"${large(at)}"}`)),
  ],
  [
    'elements of an export',
    [
      documentLine('project', ANA, '{"id":"p","ref":"p"}'),
      exportLine(ANA, {
        r: 'p',
        createdAt: '2026-01-01T00:00:00Z',
        elements: Array.from({ length: COUNT }, (_, at) => `"${large(at)}"`),
      }),
    ],
  ],
])('a dump holds only a part of the %s of a user in memory, however large they are', async (_, lines) => {
  const directory = temporaryDirectory()
  const [file, database] = [join(directory, 'in.ndjson'), `file:${join(directory, 'workspace.db')}`]
  writeFileSync(file, lines.join(''))
  expect(await run(['import', file, '--database', database])).toMatchObject({ exitCode: 0, stderr: '' })
  // All of them together are 120 MB.
  const env = { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` }
  const dumped = await run(['dump', '--database', database], { env })
  expect([dumped.exitCode, dumped.stderr]).toEqual([0, ''])
  for (let at = 0; at < COUNT; at += 1) expect(dumped.stdout).toContain(large(at).slice(0, 20))
})

function large(at: number): string {
  return `text ${at} `.padEnd(4_000_000, '.')
}
