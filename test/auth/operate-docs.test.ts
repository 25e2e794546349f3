// Runs every command of the pages about keys and the audit log as printed, one after the other.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { AUDIT_KINDS } from '../../src/auth/audit/audit-event.ts'
import { run } from '../support/command-line.ts'
import { PROGRAM } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, documentLine } from '../support/workspaces.ts'

const read = (name: string) => readFileSync(new URL(`../../docs/operate/${name}.md`, import.meta.url), 'utf8')

/** What the pages announce at this point: the key that was just replaced is still in use. */
const REFUSED = /may be in use until/

// The test runs some twenty programs in sequence. Once, on a busy machine, they took more than a minute.
test('the commands of keys.md and audit.md do what the pages say', { timeout: 600_000 }, async () => {
  const cwd = temporaryDirectory()
  const stdin = documentLine('project', ANA, '{"id":"p"}')
  expect((await run(['import', '-'], { cwd, stdin })).exitCode).toBe(0)
  // The key that the first start would make.
  expect((await run(['keys', 'rotate'], { cwd })).exitCode).toBe(0)
  const blocks = [read('keys'), read('audit')].flatMap((page) =>
    [...page.matchAll(/```sh\n(.*?)\n```/gs)].map(([, block = '']) => block),
  )
  expect(blocks.length).toBeGreaterThan(7)
  const bin = temporaryDirectory()
  // Acts as `npx workspace-gateway` without the lookup of npx.
  const command = `#!/bin/sh\nshift\n'${process.execPath}' '${PROGRAM}' "$@" || echo "failed: $*" >&2\n`
  writeFileSync(join(bin, 'npx'), command, { mode: 0o755 })
  const script = [`PATH='${bin}':"$PATH"`, ...blocks].join('\n')
  const { stdout, stderr } = spawnSync('sh', ['-c', script], { cwd, encoding: 'utf8' })
  const failures = stderr.split('\n').filter((line) => line !== '')
  // The replaced key is still needed, and nobody is signed in.
  expect(failures).toEqual([
    expect.stringMatching(REFUSED),
    expect.stringMatching(/^failed: keys retire /),
    `failed: sessions revoke --email ${ANA}`,
  ])
  expect(stdout).toMatch(/ {2}signing {2}from .* {2}clear/)
  expect(stdout).toMatch(/^[\w-]{43} \(RS256\) signs from /m)
  expect(stdout).toMatch(/^\d keys encrypted$/m)
  expect(stdout).toMatch(/ {2}encrypted$/m)
  expect(stdout).toMatch(/^\{"at":".*","kind":"keyAdded","result":"done","detail":"[\w-]{43}"\}$/m)
})

test('the table of kinds in audit.md lists the kinds of the code', () => {
  const rows = [...read('audit').matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, kind, meaning]) => [kind, meaning])
  expect(rows).toEqual(Object.entries(AUDIT_KINDS))
})
