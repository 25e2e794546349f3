// Tests backup --keep-newest: a folder with a backup of every night, of which the newest stay.
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs'
import { expect, test } from 'vitest'
import { runHere } from '../support/command-line.ts'
import { createWorkspace } from '../support/import-workspace.ts'
import { POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'
import { SMALL_WORLD } from '../support/workspaces.ts'

const DAY_MS = 86_400_000
const FIRST_NIGHT = Date.UTC(2026, 0, 1, 2, 0, 7)

async function createNights(database?: string) {
  let now = FIRST_NIGHT
  const workspace = createWorkspace((args, options) => runHere(args, { ...options, clock: () => now }), database)
  await workspace.load(SMALL_WORLD)
  const folder = workspace.path('backups')
  return {
    ...workspace,
    folder,
    moveTo(night: number) {
      now = FIRST_NIGHT + (night - 1) * DAY_MS
    },
    backup: (keep: number, place = folder) => workspace.run('backup', place, '--keep-newest', `${keep}`),
    found: () => readdirSync(folder).toSorted(),
  }
}

const named = (day: number) => `workspace-2026-01-0${day}T02-00-07Z.backup`
const withDigest = (name: string) => [name, `${name}.sha256`]

const engines = [
  ['sqlite', async () => undefined] as const,
  ...(POSTGRES_URL === null ? [] : [['postgres', temporaryDatabase] as const]),
]

test.each(engines)('%s: each backup, once whole, removes the oldest one beyond the limit', async (_, database) => {
  const nights = await createNights(await database())
  mkdirSync(nights.folder)
  const others = [nights.write('backups/by-hand.db', 'mine'), nights.write(`backups/${named(1)}.1a2b3c4d.part`, '')]
  for (const night of [1, 2, 3]) {
    nights.moveTo(night)
    const { exitCode, stdout, stderr } = await nights.backup(2)
    expect([exitCode, stderr]).toEqual([0, ''])
    expect(stdout).toContain(`backed up to ${nights.folder}/${named(night)}: `)
    expect(stdout.match(/^removed .*$/gm)).toEqual(night === 3 ? [`removed ${nights.folder}/${named(1)}`] : null)
  }
  const kept = [...withDigest(named(2)), ...withDigest(named(3))]
  expect(nights.found()).toEqual([...kept, 'by-hand.db', `${named(1)}.1a2b3c4d.part`].toSorted())
  for (const path of others) expect(statSync(path).isFile()).toBe(true)
  const before = await nights.dump()
  const restored = createWorkspace()
  expect(await restored.run('restore', `${nights.folder}/${named(3)}`)).toMatchObject({ exitCode: 0, stderr: '' })
  expect(await restored.dump()).toBe(before)
})

test('the remains of killed backups, and nothing else, are removed after a day', async () => {
  const nights = await createNights()
  mkdirSync(nights.folder)
  const left = ['', '-wal', '-journal', '.sha256'].map((end) => `${named(1)}.1a2b3c4d.part${end}`)
  const others = ['mine.db.1a2b3c4d.part', `${named(1)}.part`, `${named(1)}.1a2b3c4d.part.mine`]
  const written = FIRST_NIGHT / 1_000
  for (const name of [...left, ...others]) utimesSync(nights.write(`backups/${name}`, ''), written, written)
  // Within a day, the process that writes them may still run.
  nights.moveTo(1.99)
  expect((await nights.backup(5)).stdout).not.toContain('removed')
  nights.moveTo(2)
  const { exitCode, stdout } = await nights.backup(5)
  expect([exitCode, stdout.match(/^removed .*$/gm)?.toSorted()]).toEqual([
    0,
    left.map((name) => `removed ${nights.folder}/${name}`).toSorted(),
  ])
  expect(nights.found().filter((name) => name.includes('.part'))).toEqual(others.toSorted())
})

test('a backup never removes itself, even after the clock was set back', async () => {
  const nights = await createNights()
  mkdirSync(nights.folder)
  for (const night of [8, 9, 1]) {
    nights.moveTo(night)
    expect(await nights.backup(2)).toMatchObject({ exitCode: 0 })
  }
  expect(nights.found()).toEqual([...withDigest(named(1)), ...withDigest(named(9))])
})

test('overlapping backups remove neither, and the next backup removes both', async () => {
  const nights = await createNights()
  mkdirSync(nights.folder)
  for (const night of [1, 3, 2]) {
    nights.moveTo(night)
    const { exitCode, stdout } = await nights.backup(1)
    expect([exitCode, stdout]).toEqual([0, expect.not.stringContaining(`removed ${nights.folder}/${named(3)}`)])
  }
  expect(nights.found()).toEqual([...withDigest(named(2)), ...withDigest(named(3))])
  nights.moveTo(4)
  expect(await nights.backup(1)).toMatchObject({ exitCode: 0 })
  expect(nights.found()).toEqual(withDigest(named(4)))
})

test('a second backup in the same second fails, and does not change the first', async () => {
  const nights = await createNights()
  mkdirSync(nights.folder)
  const taken = {
    exitCode: 1,
    stdout: '',
    stderr: expect.stringMatching(/^\S+ exists already and is not overwritten: name another file\n$/),
  }
  const both = await Promise.all([nights.backup(2), nights.backup(2)])
  expect(both.toSorted((a, b) => Number(a.exitCode) - Number(b.exitCode))).toMatchObject([{ exitCode: 0 }, taken])
  expect(await nights.backup(1)).toMatchObject(taken)
  expect(nights.found()).toEqual(withDigest(named(1)))
  const restored = createWorkspace()
  expect(await restored.run('restore', `${nights.folder}/${named(1)}`)).toMatchObject({ exitCode: 0, stderr: '' })
})

test('a failed backup removes none', async () => {
  const nights = await createNights()
  mkdirSync(nights.folder)
  expect(await nights.backup(1)).toMatchObject({ exitCode: 0 })
  const before = nights.found()
  const database = nights.path('workspace.db')
  nights.write('workspace.db', readFileSync(database).fill(0, 4_096))
  nights.moveTo(2)
  const { exitCode, stdout } = await nights.backup(1)
  expect([exitCode === 0, stdout]).toEqual([false, ''])
  expect(nights.found()).toEqual(before)
})

test('--keep-newest requires an existing folder, so that an unmounted disk does not fill another one', async () => {
  const nights = await createNights()
  for (const place of [nights.folder, nights.path('workspace.db')]) {
    const { exitCode, stderr } = await nights.backup(3, place)
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`${place} is not a folder`)])
  }
  mkdirSync(nights.folder)
  for (const count of ['0', '-1', 'all']) {
    expect(await nights.run('backup', nights.folder, '--keep-newest', count), count).toMatchObject({ exitCode: 2 })
  }
  expect(nights.found()).toEqual([])
})

test('a backup that cannot be removed is reported, and the others are removed', async () => {
  const nights = await createNights()
  mkdirSync(nights.folder)
  for (const night of [1, 2]) {
    nights.moveTo(night)
    expect((await nights.backup(5)).exitCode).toBe(0)
  }
  rmSync(`${nights.folder}/${named(1)}.sha256`)
  mkdirSync(`${nights.folder}/${named(1)}.sha256`)
  nights.moveTo(3)
  const { exitCode, stdout, stderr } = await nights.backup(1)
  expect([exitCode, stdout]).toEqual([1, expect.stringContaining(`removed ${nights.folder}/${named(2)}\n`)])
  expect(stderr).toMatch(/^backed up, but older backups could not be removed: .*2026-01-01.*\n$/)
  expect(nights.found()).toEqual([`${named(1)}.sha256`, ...withDigest(named(3))].toSorted())
})

test('a folder with the name of a backup does not count as a backup, and stays', async () => {
  const nights = await createNights()
  for (const day of [1, 9]) mkdirSync(`${nights.folder}/${named(day)}`, { recursive: true })
  for (const night of [2, 3, 4]) {
    nights.moveTo(night)
    expect(await nights.backup(2)).toMatchObject({ exitCode: 0, stderr: '' })
  }
  const kept = [...withDigest(named(3)), ...withDigest(named(4))]
  expect(nights.found()).toEqual([named(1), ...kept, named(9)])
})
