// A database here that is away while follow removes something: an outage of the round, as in every other step.
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { expect, onTestFinished, test, vi } from 'vitest'
import { StoreUnavailableError } from '../../src/store/contract.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { runHere } from '../support/command-line.ts'
import { openFollower, startFollow } from '../support/follow.ts'
import { startPlainServer } from '../support/plain-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { documentLine } from '../support/workspaces.ts'

const EMAILS = Array.from({ length: 30 }, (_, at) => `user${at}@example.com`)
const WORLD = EMAILS.map((email) => documentLine('template', email, '{"id":"t"}')).join('')
const GONE = EMAILS.slice(0, 3)
const AWAY = 'the database is away'
const NOT_FLUSHED = 'what was removed has not left the files yet: the disk of the database is full\n'

/** Of those that are asked for. Answers how many there were. */
function fillDiskOfNextCheckpoint(): () => number {
  let count = 0
  const { pragma } = Database.prototype
  const spy = vi.spyOn(Database.prototype, 'pragma').mockImplementation(function (this: Database.Database, ...args) {
    if (args[0].startsWith('wal_checkpoint(TRUNCATE)')) {
      count += 1
      if (count === 1) throw new Database.SqliteError('database or disk is full', 'SQLITE_FULL')
    }
    return pragma.apply(this, args)
  })
  onTestFinished(() => spy.mockRestore())
  return () => count
}

test('while users are removed whose workspaces are gone, the round is given up, and the next one removes them', async () => {
  await using server = await startPlainServer({ records: WORLD })
  await using store = await openSqliteStore(join(temporaryDirectory(), 'new.db'), {
    lockTimeoutMs: 5_000,
    onFatal(error) {
      throw error
    },
  })
  let removals = 0
  const failing: typeof store = {
    ...store,
    applyChanges(changes) {
      const isRemoval = changes.some(({ type }) => type === 'removeUser')
      if (isRemoval) removals += 1
      if (isRemoval && removals === 2) throw new StoreUnavailableError(AWAY)
      return store.applyChanges(changes)
    },
  }
  await using follower = openFollower(server.url, failing)
  const round = () => follower.round(EMAILS.map((email) => ({ email, login: email, label: email })))
  expect(await round()).toMatchObject({ changed: 30, outage: null })
  for (const email of GONE) server.workspaces.delete(email)
  expect(await round()).toMatchObject({ missing: 3, waiting: 3, removed: 0, failed: 0, outage: null })
  expect(await round()).toMatchObject({ missing: 2, waiting: 2, removed: 1, failed: 1, unchanged: 27, outage: AWAY })
  expect(await round()).toMatchObject({ missing: 3, waiting: 0, removed: 2, failed: 0, unchanged: 27, outage: null })
  expect(follower.changes().removed).toBe(3)
})

test('while what was removed is to leave the files, that is told, and tried again after the next round', async () => {
  await using server = await startPlainServer({ records: WORLD })
  const flags = ['--email', EMAILS.join(), '--database', `file:${join(temporaryDirectory(), 'new.db')}`]
  const following = startFollow(server.url, flags)
  await following.until(({ changed }) => changed === 30)
  const checkpoints = fillDiskOfNextCheckpoint()
  for (const email of GONE) server.workspaces.delete(email)
  await following.until(({ removed }) => removed === 3)
  await following.next()
  await following.next()
  expect(checkpoints()).toBe(2)
  expect(await following.stop()).toEqual({ exitCode: 0, stderr: NOT_FLUSHED })
})

test('with --once, what was removed and has not left the files is no success', async () => {
  await using server = await startPlainServer({ records: WORLD })
  const database = ['--database', `file:${join(temporaryDirectory(), 'new.db')}`]
  const once = ['follow', server.url, '--once', '--email', EMAILS.join(), ...database, '--remove-many']
  expect(await runHere(once)).toMatchObject({ exitCode: 0 })
  server.workspaces.clear()
  fillDiskOfNextCheckpoint()
  expect(await runHere(once)).toMatchObject({ exitCode: 1, stderr: NOT_FLUSHED })
})
