// Tests the lines of a backup: what was imported can be backed up however long it is, and what was backed up can be
// restored, also by later releases.
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { linesOfBackup } from '../src/cli/backup/lines-of-backup.ts'
import { MAX_LINE_BYTES } from '../src/import-export/format/lines.ts'
import { backupLines, MAX_BACKUP_LINE_BYTES } from '../src/migration/backup-records.ts'
import { runHere } from './support/command-line.ts'
import { startGateway } from './support/gateway.ts'
import { createWorkspace } from './support/import-workspace.ts'
import { jsonLines } from './support/json-lines.ts'
import { POSTGRES_URL, temporaryDatabase } from './support/postgres.ts'
import { openTestStore } from './support/sqlite-store.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'
import { ANA, BEN, documentLine, exportLine, SMALL_WORLD } from './support/workspaces.ts'

/**
 * Each character of the text takes two in a backup. Beside the text are the names, as long as they may be, with six for
 * each of their characters.
 */
const NAME = '\\u0001'.repeat(1_024)
const ESCAPED = '\\'.repeat(2_000)
const PROJECT = documentLine('project', ANA, `{"id":"${NAME}","ref":"${NAME}","text":"${ESCAPED}"}`)
const ELEMENT = exportLine(ANA, { r: 'site', createdAt: '2026-01-01T00:00:00Z', elements: [`"${ESCAPED}"`] })

async function openWith(lines: string) {
  const workspace = createWorkspace()
  await workspace.load(lines)
  return openTestStore(workspace.path('workspace.db'))
}

const bytesOf = (line: string) => Buffer.byteLength(line.replace(/\n$/, ''))

test.each([
  ['a document', 'addDocument', PROJECT],
  ['an element of an export', 'addElement', ELEMENT],
])(
  '%s of the longest line of an import fits into a line that can be restored, whatever it is made of',
  async (_, type, imported) => {
    await using store = await openWith(imported)
    const lines = await Array.fromAsync(backupLines(store, 0))
    const line = lines.find((one) => one.startsWith(`{"type":"${type}"`)) ?? ''
    expect(bytesOf(line)).toBeGreaterThan(ESCAPED.length * 2)
    // Add what the longest line has more: none of its characters takes more than two.
    expect(bytesOf(line) + 2 * (MAX_LINE_BYTES - bytesOf(imported))).toBeLessThanOrEqual(MAX_BACKUP_LINE_BYTES)
  },
)

test('the workspaces of a backup are of one state, whatever is removed while it is being made', async () => {
  await using store = await openWith(SMALL_WORLD)
  const whole = await Array.fromAsync(backupLines(store, 0))
  const lines: string[] = []
  for await (const line of backupLines(store, 0)) {
    lines.push(line)
    if (line.startsWith('{"type":"putUser"')) await store.removeUsers([ANA, BEN])
  }
  expect(await store.usersAfter('', 1)).toEqual([])
  expect(lines).toEqual(whole)
})

test('a backup refuses an item that is too long to be restored, and does not name it', async () => {
  await using store = await openWith(PROJECT + ELEMENT)
  const longest = Math.max(...(await Array.fromAsync(backupLines(store, 0))).map(bytesOf))
  expect(await Array.fromAsync(backupLines(store, 0, longest))).not.toEqual([])
  await expect(Array.fromAsync(backupLines(store, 0, longest - 1))).rejects.toThrow(
    `a backup as lines of JSON would be incomplete: one item of user 1 (addDocument) is longer than ${longest - 1} bytes`,
  )
})

test('a line of a backup that is too long to be read is reported as such, not as changed', async () => {
  const path = join(temporaryDirectory(), 'backup.ndjson')
  writeFileSync(path, 'short\nas long as it may be\nlonger than it may be\n')
  const lines = linesOfBackup(path, 20)
  expect((await lines.next()).value).toBe('short')
  expect((await lines.next()).value).toBe('as long as it may be')
  await expect(lines.next()).rejects.toThrow('line 3 of the backup is too long: longer than 20 bytes')
})

test.each([
  { engine: 'SQLite', open: () => `file:${join(temporaryDirectory(), 'restored.db')}`, isThere: true },
  { engine: 'PostgreSQL', open: temporaryDatabase, isThere: POSTGRES_URL !== null },
])('a backup of format 1, without clients of sessions, is restored on $engine', async ({ engine, open, isThere }) => {
  if (!isThere) return console.warn(`skipped: there is no ${engine}`)
  const gateway = await startGateway()
  await gateway.load(SMALL_WORLD)
  const { accessToken } = await gateway.login(ANA)
  const made = await runHere(['backup', '-', '--database', gateway.databaseUrl])
  const old = join(temporaryDirectory(), 'old.ndjson')
  writeFileSync(old, inFormat1(made.stdout))
  const databaseUrl = await open()
  const restore = ['restore', old, '--database', databaseUrl, '--keep-sessions']
  expect(await runHere(restore)).toMatchObject({ exitCode: 0, stderr: '' })
  const dump = await runHere(['dump', '--database', gateway.databaseUrl])
  expect(await runHere(['dump', '--database', databaseUrl])).toEqual(dump)
  const restored = await startGateway({ databaseUrl })
  expect((await restored.get('/projects', accessToken)).status).toBe(200)
})

function inFormat1(backup: string): string {
  const lines = jsonLines(backup)
    .slice(0, -1)
    .filter(({ type }) => type !== 'putRow')
    .map(({ auditEntry: _, ...line }) => {
      if (line.type === 'backup') return { ...line, format: 1 }
      return line.type === 'session' ? { ...line, session: { ...line.session, client: undefined } } : line
    })
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  const digest = createHash('sha256').update(text).digest('hex')
  return `${text}${JSON.stringify({ type: 'end', lines: lines.length, digest })}\n`
}
