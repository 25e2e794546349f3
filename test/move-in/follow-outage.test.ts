// Outages of follow: of its own database, of the disk of its temporary files, and of the old server.
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { dumpUsers } from '../../src/import-export/dump.ts'
import { StoreUnavailableError } from '../../src/store/contract.ts'
import { runHere } from '../support/command-line.ts'
import { canMount, smallDisk } from '../support/faults.ts'
import { openFollower, startFollow } from '../support/follow.ts'
import { freePort } from '../support/free-port.ts'
import { ask } from '../support/gateway.ts'
import { type PlainServer, readerOf, startPlainServer } from '../support/plain-server.ts'
import { openTestStore } from '../support/sqlite-store.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { documentLine } from '../support/workspaces.ts'

const EMAILS = Array.from({ length: 30 }, (_, at) => `user${at}@example.com`)
const WORLD = EMAILS.map((email) => documentLine('template', email, '{"id":"t"}')).join('')
const GONE = EMAILS.slice(0, 3)
const AWAY = 'the database is away'
const [FORMER, CHANGED] = ['{"id":"t","n":1}', '{"id":"t","n":2}'] as const
const NOT_FLUSHED = 'removed data is still in the files of the database: the disk of the database is full\n'

type Change = (server: PlainServer) => Promise<void>

async function breakReads(server: PlainServer): Promise<void> {
  server.setIntercept((_, response) => {
    response.writeHead(500).end()
    return true
  })
}

/** Makes the disk look full at the next checkpoint. The returned function tells how many checkpoints were asked for. */
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

test('follow gives up a round when the database is unavailable during removals, and the next round removes the users', async () => {
  await using server = await startPlainServer({ records: WORLD })
  await using store = await openTestStore()
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

test.each([
  ['without entity tags', false],
  ['with entity tags', true],
])(
  'a change that was stored although the database did not confirm it does not stay when it is undone there, %s',
  async (_, hasEtags) => {
    const [email = ''] = EMAILS
    await using server = await startPlainServer({ records: documentLine('template', email, FORMER), hasEtags })
    await using store = await openTestStore()
    let isLost = false
    const unconfirmed: typeof store = {
      ...store,
      async swapReplacement(question) {
        const swapped = await store.swapReplacement(question)
        if (isLost) throw new StoreUnavailableError(AWAY)
        return swapped
      },
    }
    await using follower = openFollower(server.url, unconfirmed)
    const round = () => follower.round([{ email, login: email, label: email }])
    const stored = async () => {
      await using snapshot = await store.openSnapshot()
      return (await Array.fromAsync(dumpUsers(snapshot))).join('')
    }
    expect(await round()).toMatchObject({ changed: 1, outage: null })
    const { templates } = server.workspaces.get(email) ?? {}
    templates?.splice(0, 1, CHANGED)
    isLost = true
    expect(await round()).toMatchObject({ changed: 0, failed: 1, outage: AWAY })
    expect(await stored()).toContain(CHANGED)
    templates?.splice(0, 1, FORMER)
    isLost = false
    expect(await round()).toMatchObject({ changed: 1, failed: 0, outage: null })
    expect(await stored()).toBe(documentLine('template', email, FORMER))
    expect(await round()).toMatchObject({ unchanged: 1 })
  },
)

test.each([
  ['a round in which the server was away', GONE.slice(0, 1), (server) => server.kill(), (server) => server.restart()],
  ['a round in which it answered 500', GONE.slice(0, 1), breakReads, async (server) => server.setIntercept(null)],
  // Those who are gone are last, so nobody asks for them.
  ['a round that is given up early', EMAILS.toReversed(), (server) => server.kill(), (server) => server.restart()],
] as readonly [string, readonly string[], Change, Change][])(
  '%s resets what was found before: only consecutive rounds without a workspace remove it',
  async (_, emails, fail, mend) => {
    await using server = await startPlainServer({ records: WORLD })
    await using store = await openTestStore()
    await using follower = openFollower(server.url, store)
    const round = () => follower.round(emails.map((email) => ({ email, login: email, label: email })))
    const gone = emails.filter((email) => GONE.includes(email)).length
    expect(await round()).toMatchObject({ changed: emails.length })
    for (const email of GONE) server.workspaces.delete(email)
    expect(await round()).toMatchObject({ waiting: gone, removed: 0 })
    await fail(server)
    expect(await round()).toMatchObject({ failed: emails.length, removed: 0 })
    await mend(server)
    expect(await round()).toMatchObject({ waiting: gone, removed: 0 })
    expect(await round()).toMatchObject({ waiting: 0, removed: gone })
  },
)

describe.skipIf(!canMount())('follow whose folder for temporary files is full', () => {
  test('gives up the round and continues with the next one', async () => {
    await using server = await startPlainServer({ records: WORLD })
    const flags = ['--email', EMAILS.join(), '--database', `file:${join(temporaryDirectory(), 'new.db')}`]
    const disk = smallDisk(1_048_576)
    disk.fill()
    const { TMPDIR } = process.env
    process.env.TMPDIR = disk.path
    onTestFinished(() => {
      if (TMPDIR === undefined) delete process.env.TMPDIR
      else process.env.TMPDIR = TMPDIR
    })
    const following = startFollow(server.url, flags)
    const { outage } = await following.next()
    expect(outage).toMatch(
      /^cannot store the received data during the import: ENOSPC.* \(set TMPDIR to use another folder\)$/,
    )
    disk.empty()
    await following.until(({ unchanged, failed }) => unchanged === EMAILS.length && failed === 0)
    expect((await following.stop()).exitCode).toBe(0)
  })
})

test('the metric about the old server stays 1 while only the database of follow is down', async () => {
  await using server = await startPlainServer({ records: WORLD })
  const port = String(await freePort('127.0.0.1'))
  const database = join(temporaryDirectory(), 'new.db')
  const flags = ['--email', EMAILS.join(), '--database', `file:${database}`, '--lock-timeout', '50']
  const following = startFollow(server.url, [...flags, '--metrics-port', port])
  const remoteUp = async () =>
    /^workspace_gateway_follow_remote_up (\S+)$/m.exec((await ask(`http://127.0.0.1:${port}/metrics`)).text)?.[1]
  await following.until(({ changed }) => changed === EMAILS.length)
  const other = new Database(database)
  other.exec('begin immediate')
  server.workspaces.get(EMAILS[0] ?? '')?.templates.push('{"id":"late"}')
  expect(await following.until(({ outage }) => outage !== null)).toMatchObject({ isServerDown: false })
  expect(await remoteUp()).toBe('1')
  other.close()
  await following.until(({ changed }) => changed === 1)
  await server.kill()
  expect(await following.until(({ outage }) => outage !== null)).toMatchObject({ isServerDown: true })
  expect(await remoteUp()).toBe('0')
  await following.stop()
})

test('follow reports when removed data could not leave the files, and tries again after the next round', async () => {
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

test('follow --once fails when removed data could not leave the files', async () => {
  await using server = await startPlainServer({ records: WORLD })
  const database = ['--database', `file:${join(temporaryDirectory(), 'new.db')}`]
  const once = ['follow', server.url, '--once', '--email', EMAILS.join(), ...database, '--remove-many']
  expect(await runHere(once)).toMatchObject({ exitCode: 0 })
  server.workspaces.clear()
  fillDiskOfNextCheckpoint()
  expect(await runHere(once)).toMatchObject({ exitCode: 1, stderr: NOT_FLUSHED })
})

test('follow --once waits for a server that is busy for more than two seconds', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  await using server = await startPlainServer({ records: WORLD })
  const busy = new Set(EMAILS)
  server.setIntercept((request, response) => {
    if (!busy.delete(readerOf(request) ?? '')) return false
    vi.advanceTimersByTime(2_000)
    response.writeHead(503).end()
    return true
  })
  const database = ['--database', `file:${join(temporaryDirectory(), 'new.db')}`]
  const once = await runHere(['follow', server.url, '--once', '--email', EMAILS.join(), ...database])
  expect(once).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('30 changed, 0 failed') })
})

test('follow brings every user in step after some rounds, even if the server answers only a few requests per round', async () => {
  await using server = await startPlainServer({ records: WORLD })
  await using store = await openTestStore()
  await using follower = openFollower(server.url, store)
  let left = 0
  server.setIntercept((_, response) => {
    left -= 1
    if (left < 0) response.writeHead(429).end()
    return left < 0
  })
  const inStep = async () => {
    const users = await Promise.all(EMAILS.map((email) => store.userByEmail(email)))
    return users.filter((user) => user !== null).length
  }
  // Each round begins at a random one of the 30 users and reads at least two: a thousand rounds leave nobody out.
  for (let rounds = 0; rounds < 1_000 && (await inStep()) < EMAILS.length; rounds += 1) {
    left = 12
    const round = await follower.round(EMAILS.map((email) => ({ email, login: email, label: email })))
    expect(round.outage).toContain('answered 429')
  }
  expect(await inStep()).toBe(EMAILS.length)
})
