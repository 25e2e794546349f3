// Tests copying an SQLite database and preparing the copy to be served: what the file then contains, and what it does
// not.
import { copyFileSync, existsSync, readdirSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import {
  copyDatabase,
  copyUnused,
  prepareRestored,
  verifyDatabase,
  whileUnused,
} from '../../src/store/sqlite/backup.ts'
import { newSession } from '../contract/values.ts'
import { canMount, smallDisk } from '../support/faults.ts'
import { DESCRIPTORS, openFiles } from '../support/open-files.ts'
import { openTestStore } from '../support/sqlite-store.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/** Offset in the file header of the format version: 1 if the file needs no log beside it, 2 in WAL mode. */
const VERSIONS_AT = 18

/** Offset in the file header of the number of unused pages. */
const FREE_PAGES_AT = 36

const session = newSession({ userAgent: 'a user agent that nobody else has' })

const UNFINISHED = ['code_request', 'replacement', 'staged_user', 'staged_document', 'staged_export']

/** Returns the path of a store that was used and is closed. */
async function makeDatabase(): Promise<string> {
  const path = join(realpathSync(temporaryDirectory()), 'store.db')
  await using store = await openTestStore(path)
  await store.addSessions([session])
  const request = { email: session.email, network: 'n', agent: 'a', kid: 'k', codeHash: 'h', isEligible: true }
  await store.addCodeRequests([{ ...request, id: 'r', askedAt: 1 }])
  const staged = {
    stage: 's',
    email: session.email,
    ref: 'p',
    createdAt: '2026-01-01T00:00:00Z',
    instant: '1',
  } as const
  const document = { email: session.email, kind: 'project', id: 'p', ref: 'p', text: '"staged"' } as const
  await store.beginReplacement('replacement', 1)
  await store.stageReplacement(
    'replacement',
    [
      { type: 'stageDocument', ...document },
      { type: 'stageExport', ...staged },
    ],
    1,
  )
  return path
}

/** Opens a connection that makes no checkpoint. Each `commit` adds pages to the log. */
function openFiller(path: string) {
  const database = new Database(path)
  database.exec('pragma wal_autocheckpoint = 0; create table filler (bytes blob)')
  return { database, commit: () => void database.exec('insert into filler values (zeroblob(400000))') }
}

const countIn = (path: string, table: string) => {
  const database = new Database(path, { readonly: true })
  try {
    return database.prepare(`select count(*) from ${table}`).pluck().get()
  } finally {
    database.close()
  }
}

test.each([true, false])(
  'prepareRestored drops pending codes and unfinished imports, and keeps sessions only if keepSessions is set: %s',
  async (keepSessions) => {
    const path = await makeDatabase()
    expect(readFileSync(path)[VERSIONS_AT]).toBe(2)
    for (const table of UNFINISHED) expect(countIn(path, table), table).toBe(1)
    prepareRestored(path, { keepSessions })
    expect(countIn(path, 'session')).toBe(keepSessions ? 1 : 0)
    for (const table of UNFINISHED) expect(countIn(path, table), table).toBe(0)
    // There is one file, and it contains nothing of an ended session.
    expect(readdirSync(join(path, '..'))).toEqual(['store.db'])
    expect(readFileSync(path)[VERSIONS_AT]).toBe(1)
    expect(readFileSync(path).includes(session.userAgent)).toBe(keepSessions)
  },
)

test('verifyDatabase refuses a copy that is readable but inconsistent', async () => {
  const path = await makeDatabase()
  verifyDatabase(path)
  const bytes = readFileSync(path)
  bytes.writeUInt32BE(bytes.readUInt32BE(FREE_PAGES_AT) + 1, FREE_PAGES_AT)
  writeFileSync(path, bytes)
  expect(countIn(path, 'session')).toBe(1)
  expect(() => verifyDatabase(path)).toThrow(/^the file is damaged: .*[Ff]reelist/s)
})

test('copyUnused refuses a database that is written to while it is copied', async () => {
  const path = await makeDatabase()
  const write = () => {
    const database = new Database(path)
    database.exec('delete from session')
    database.close()
  }
  await expect(copyUnused(path, join(path, '..', 'copy.db'), write)).rejects.toThrow(
    `${path} was written to while it was read: make a backup of it, and restore that`,
  )
})

test('whileUnused runs a function alone on the database, and not at all while somebody uses it', async () => {
  const path = await makeDatabase()
  const other = new Database(path, { timeout: 0 })
  other.prepare('select 1 from user').get()
  expect(whileUnused(path, () => 1)).toBeNull()
  other.close()
  const write = () => {
    using closing = new DisposableStack()
    closing.adopt(new Database(path, { timeout: 0 }), (late) => late.close()).exec('begin immediate')
  }
  expect(whileUnused(path, () => expect(write).toThrow('locked'))).not.toBeNull()
  const fail = () => {
    throw new Error('no')
  }
  expect(() => whileUnused(path, fail)).toThrow('no')
  expect(write).not.toThrow()
})

test.skipIf(!existsSync(DESCRIPTORS))('copying, verifying and restoring leave no file open', async () => {
  const path = await makeDatabase()
  const directory = join(path, '..')
  const copy = join(directory, 'copy.db')
  writeFileSync(copy, '')
  await copyDatabase(path, copy)
  verifyDatabase(copy)
  prepareRestored(copy, { keepSessions: false })
  expect(whileUnused(copy, () => 1)).toEqual({ answer: 1 })
  expect(openFiles().filter((file) => file.startsWith(directory))).toEqual([])
})

describe('what others commit during a copy', () => {
  test.each([
    ['is moved into the database by the copy, so that the next commit does not do it', 'own', true],
    ['is left in the log where another program makes the checkpoints', 'external', false],
  ] as const)('%s', async (_what, checkpoints, isMoved) => {
    const path = await makeDatabase()
    const copy = join(path, '..', 'copy.db')
    writeFileSync(copy, '')
    const { database, commit } = openFiller(path)
    try {
      await copyDatabase(path, copy, { afterStep: commit, checkpoints })
      const [log] = database.pragma('wal_checkpoint(NOOP)') as [{ log: number; checkpointed: number }]
      expect(log.log).toBeGreaterThan(0)
      expect(log.checkpointed === log.log).toBe(isMoved)
      expect(countIn(copy, 'filler')).toBe(0)
    } finally {
      database.close()
    }
  })

  test.skipIf(!canMount())('may find no room in the database, and the copy is complete', async () => {
    const disk = smallDisk(4_194_304)
    const path = join(disk.path, 'store.db')
    copyFileSync(await makeDatabase(), path)
    const copy = join(temporaryDirectory(), 'copy.db')
    writeFileSync(copy, '')
    const { database, commit } = openFiller(path)
    try {
      commit()
      disk.fill()
      expect(() => database.pragma('wal_checkpoint(PASSIVE)')).toThrow('full')
      await copyDatabase(path, copy)
      expect(countIn(copy, 'filler')).toBe(1)
    } finally {
      database.close()
    }
  })
})

test.skipIf(!existsSync(DESCRIPTORS))('a copy that is told to stop ends at once and leaves no file open', async () => {
  const path = await makeDatabase()
  const database = new Database(path)
  database.exec('create table filler (bytes blob); insert into filler values (zeroblob(4000000))')
  database.close()
  const copy = join(path, '..', 'copy.db')
  writeFileSync(copy, '')
  let steps = 0
  const stopAtThird = () => {
    steps += 1
    if (steps === 3) throw new Error('stopped')
  }
  await expect(copyDatabase(path, copy, { afterStep: stopAtThird })).rejects.toThrow('stopped')
  expect(steps).toBe(3)
  expect(statSync(copy).size).toBeLessThan(statSync(path).size)
  expect(openFiles().filter((file) => file.startsWith(join(path, '..')))).toEqual([])
})

test.skipIf(!existsSync(DESCRIPTORS))('a copy that cannot be started leaves no file open', async () => {
  const path = await makeDatabase()
  await expect(copyDatabase(path, join(path, '..', 'nowhere', 'copy.db'))).rejects.toThrow('ENOENT')
  expect(openFiles().filter((file) => file.startsWith(path))).toEqual([])
})
