// Tests that read commands need nothing that a fault takes away: room, the write lock, or a writable disk.
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { type Finished, run, runHere, type ServingProcess, serveForTest } from '../support/command-line.ts'
import { canMount, smallDisk } from '../support/faults.ts'
import { createWorkspace } from '../support/import-workspace.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

const READING = [
  'users list',
  `users show ${ANA}`,
  'dump',
  'audit',
  'sessions list',
  'keys list',
  'clients list',
  'ledger',
]
const MIB = 1_048_576

/** Returns what each command prints, and expects that none prints to stderr. */
async function readAll(
  flags: readonly string[],
  runCommand: (args: readonly string[]) => Promise<Finished> = runHere,
): Promise<readonly string[]> {
  const finished: Finished[] = []
  for (const command of READING) finished.push(await runCommand([...command.split(' '), ...flags]))
  expect(finished.map(({ exitCode, stderr }) => [exitCode, stderr])).toEqual(READING.map(() => [0, '']))
  return finished.map(({ stdout }) => stdout)
}

/** Serves a database that already has a signing key, so that only the test writes to it. */
async function serveQuiet(flags: readonly string[]): Promise<ServingProcess> {
  await (await serveForTest(flags)).kill('SIGTERM')
  return serveForTest(flags)
}

async function backUp(flags: readonly string[]): Promise<Finished> {
  const backup = join(temporaryDirectory(), 'backup.db')
  const made = await runHere(['backup', backup, ...flags])
  if (made.exitCode === 0) new Database(backup, { readonly: true }).close()
  return made
}

test('read commands and a backup work while another program holds the write lock', async () => {
  const workspace = createWorkspace()
  await workspace.load(SMALL_WORLD)
  const before = await readAll(workspace.flags)
  const hand = new Database(workspace.path('workspace.db'))
  hand.exec('begin immediate')
  const flags = [...workspace.flags, '--lock-timeout', '100']
  // The commands run as processes, because the lock is held by another process.
  expect(await readAll(flags, run)).toEqual(before)
  expect(await backUp(flags)).toMatchObject({ exitCode: 0, stderr: '' })
  expect(await run(['users', 'remove', ANA, ...flags])).toMatchObject({ exitCode: 1 })
  hand.close()
})

test('read commands do not touch the database when another program makes the checkpoints', async () => {
  const workspace = createWorkspace()
  const path = workspace.path('workspace.db')
  const flags = [...workspace.flags, '--checkpoints', 'external']
  const serving = await serveQuiet(flags)
  await workspace.run('import', workspace.write('world', SMALL_WORLD), '--checkpoints', 'external')
  const bytes = () => [readFileSync(path), readFileSync(`${path}-wal`)]
  const before = bytes()
  await readAll(flags)
  expect(bytes()).toEqual(before)
  expect(await serving.kill('SIGTERM')).toBe(0)
})

describe.skipIf(!canMount())('read commands and a backup', () => {
  test('work on a full disk', async () => {
    const disk = smallDisk(8 * MIB)
    const flags = ['--database', `file:${join(disk.path, 'workspace.db')}`]
    const serving = await serveQuiet(flags)
    await runHere(['import', '-', ...flags], { stdin: SMALL_WORLD })
    const before = await readAll(flags)
    disk.fill()
    expect(await readAll(flags)).toEqual(before)
    expect(await backUp(flags)).toMatchObject({ exitCode: 0, stderr: '' })
    disk.empty()
    expect(await serving.kill('SIGTERM')).toBe(0)
  })

  test('work on a full disk while nobody has the database open, and say what to do instead of a removal', async () => {
    const disk = smallDisk(8 * MIB)
    const path = join(disk.path, 'workspace.db')
    const flags = ['--database', `file:${path}`]
    await (await serveQuiet(flags)).kill('SIGTERM')
    await runHere(['import', '-', ...flags], { stdin: SMALL_WORLD })
    const before = await readAll(flags)
    disk.fill()
    // There is no room for the files that SQLite needs beside the database.
    expect(existsSync(`${path}-shm`)).toBe(false)
    expect(await readAll(flags)).toEqual(before)
    expect(await backUp(flags)).toMatchObject({ exitCode: 0, stderr: '' })
    expect(await runHere(['users', 'remove', ANA, ...flags])).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: `cannot write to ${path}: its disk is full. Make room there first, with other files: removing stored data needs room too. To answer reads from it meanwhile: serve --read-only\n`,
    })
    const reading = await serveForTest([...flags, '--read-only'])
    expect((await fetch(`${reading.url}/readyz`)).status).toBe(200)
    expect(await reading.kill('SIGTERM')).toBe(0)
    disk.empty()
    expect(await readAll(flags)).toEqual(before)
  })

  test('work on a read-only disk, such as a snapshot, and leave nothing there', async () => {
    const workspace = createWorkspace()
    const path = workspace.path('workspace.db')
    const serving = await serveQuiet(workspace.flags)
    await workspace.load(SMALL_WORLD)
    const before = await readAll(workspace.flags)
    const disk = smallDisk(8 * MIB)
    const taken = join(disk.path, 'workspace.db')
    // Between two writes, a snapshot of the disk consists of these two files.
    copyFileSync(path, taken)
    if (existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${taken}-wal`)
    const files = readdirSync(disk.path)
    execFileSync('mount', ['-o', 'remount,ro', disk.path])
    const flags = ['--database', `file:${taken}`]
    expect(await readAll(flags)).toEqual(before)
    expect(await backUp(flags)).toMatchObject({ exitCode: 0, stderr: '' })
    expect(readdirSync(disk.path)).toEqual(files)
    expect(await runHere(['users', 'remove', ANA, ...flags])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('the disk is read-only'),
    })
    expect(await serving.kill('SIGTERM')).toBe(0)
  })
})
