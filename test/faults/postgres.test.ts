// Tests faults of PostgreSQL: commits that it does not promise, lost connections, a read-only primary, and a full disk.
import { EventEmitter } from 'node:events'
import { chownSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { StoreUnavailableError } from '../../src/store/contract.ts'
import type { MigratableStore } from '../../src/store/cutover/contract.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { runHere, type ServingProcess, serveForTest, startRunForTest } from '../support/command-line.ts'
import { canMount, smallDisk } from '../support/faults.ts'
import { type Answer, ask, bearer, postJson } from '../support/gateway.ts'
import { execute, openHand, POSTGRES_DIRECTORY, temporaryServer } from '../support/postgres.ts'
import { SERVER_USER } from '../support/postgres-server.ts'
import { ANA, BEN, SMALL_WORLD } from '../support/workspaces.ts'

const NOW = Date.UTC(2026, 0, 1)
const SESSION = {
  id: 'session-1',
  email: 'ana@example.com',
  refreshHash: new Uint8Array(38).fill(7),
  createdAt: NOW,
  lastUsedAt: NOW,
  userAgent: '',
  network: '',
  client: '',
  idleExpiresAt: NOW + 1_000_000,
  expiresAt: NOW + 1_000_000,
}

async function openStore(url: string): Promise<MigratableStore> {
  const store = await openPostgresStore(url, { connectTimeoutMs: 3_000, statementTimeoutMs: 20_000, poolSize: 2 })
  onTestFinished(() => store[Symbol.asyncDispose]())
  return store
}

/** Returns the backend that waits for this event. */
async function waitingFor(url: string, event: string): Promise<number> {
  const sql = `select pid from pg_stat_activity where pid <> pg_backend_pid() and ${event}`
  await expect.poll(() => execute(url, sql)).toHaveLength(1)
  return Number((await execute(url, sql))[0]?.pid)
}

/** Makes the server wait, with each commit, for a synchronous standby that it does not have. */
async function loseStandby(url: string): Promise<void> {
  await execute(url, `alter system set synchronous_standby_names = 'nobody'`)
  await execute(url, 'select pg_reload_conf()')
  await expect
    .poll(() => execute(url, 'show synchronous_standby_names'))
    .toEqual([{ synchronous_standby_names: 'nobody' }])
}

const countSessions = async (url: string) =>
  Number((await execute(url, 'select count(*)::int as count from workspace_gateway.session'))[0]?.count)

describe.skipIf(POSTGRES_DIRECTORY === null)('the PostgreSQL store', () => {
  test('does not acknowledge a commit whose wait for its synchronous standby was cancelled', () =>
    expectNoAcknowledgement('notice'))

  test('does not acknowledge such a commit if the database suppresses warnings either', () =>
    expectNoAcknowledgement('error'))

  test('acknowledges a write after a warning that is not about its commit', async () => {
    const url = (await temporaryServer()).url('postgres')
    const store = await openStore(url)
    // The server warns like this in each transaction long before it runs out of transaction numbers.
    await execute(
      url,
      `create function warn() returns trigger language plpgsql as $$ begin
         raise warning 'database "postgres" must be vacuumed within 39985967 transactions';
         return new; end $$;
       create trigger warn before insert on workspace_gateway.session for each row execute function warn()`,
    )
    await store.addSessions([SESSION])
    expect(await countSessions(url)).toBe(1)
  })

  async function expectNoAcknowledgement(clientMinMessages: string): Promise<void> {
    const url = (await temporaryServer()).url('postgres')
    await execute(url, `alter database postgres set client_min_messages = ${clientMinMessages}`)
    const store = await openStore(url)
    await loseStandby(url)
    const adding = Promise.resolve(store.addSessions([SESSION]))
    adding.catch(() => {})
    const pid = await waitingFor(url, `wait_event = 'SyncRep'`)
    await execute(url, `select pg_cancel_backend(${pid})`)
    const error = await adding.catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(StoreUnavailableError)
    expect(String(error)).toContain('The change may be stored nevertheless')
  }

  test('a command says that its change may be stored, and the next one that the standby is away', async () => {
    const url = (await temporaryServer()).url('postgres')
    const command = (...args: string[]) => runHere([...args, '--database', url, '--statement-timeout', '300'])
    await runHere(['import', '-', '--database', url], { stdin: SMALL_WORLD })
    await loseStandby(url)
    expect(await command('users', 'remove', ANA)).toMatchObject({
      exitCode: 1,
      stderr: 'the database did not answer in time. The change may be stored nevertheless\n',
    })
    expect(await command('users', 'remove', BEN)).toMatchObject({
      exitCode: 1,
      stderr: 'the database cannot confirm writes now: its synchronous standby does not answer\n',
    })
  })

  test('a start that waits for the commit of its migration ends with the first signal', async () => {
    const url = (await temporaryServer()).url('postgres')
    await loseStandby(url)
    const signals = new EventEmitter()
    const starting = runHere(['serve', '--port', '0', '--database', url], { signals })
    await waitingFor(url, `wait_event = 'SyncRep'`)
    signals.emit('SIGTERM')
    expect(await starting).toEqual({ exitCode: 0, stdout: '', stderr: '' })
  })

  test('so does one whose first worker waits', async () => {
    const url = (await temporaryServer()).url('postgres')
    await loseStandby(url)
    const { kill } = startRunForTest(['serve', '--port', '0', '--database', url, '--workers', '2'])
    await waitingFor(url, `wait_event = 'SyncRep'`)
    expect((await kill('SIGTERM')).exitCode).toBe(0)
  })

  test('refuses a write on a primary that became read-only, and writes again once it can', async () => {
    const url = (await temporaryServer()).url('postgres')
    const store = await openStore(url)
    await store.addSessions([SESSION])
    await execute(url, `alter system set default_transaction_read_only = on`)
    await execute(url, 'select pg_reload_conf()')
    await expect
      .poll(() => execute(url, 'show default_transaction_read_only'))
      .toEqual([{ default_transaction_read_only: 'on' }])
    const another = { ...SESSION, id: 'session-2', refreshHash: new Uint8Array(38).fill(8) }
    await expect(store.addSessions([another])).rejects.toBeInstanceOf(StoreUnavailableError)
    expect(await countSessions(url)).toBe(1)
    await execute(url, 'alter system reset default_transaction_read_only')
    await execute(url, 'select pg_reload_conf()')
    await expect
      .poll(() => execute(url, 'show default_transaction_read_only'))
      .toEqual([{ default_transaction_read_only: 'off' }])
    await store.addSessions([another])
    expect(await countSessions(url)).toBe(2)
  })

  test.each([
    [
      'a login',
      (store: MigratableStore) =>
        store.addSessions([{ ...SESSION, id: 'session-2', refreshHash: new Uint8Array(38).fill(8) }]),
    ],
    ['a logout', (store: MigratableStore) => store.revokeSessions([SESSION.refreshHash], NOW)],
  ])('does not retry %s whose connection is lost', async (_, write) => {
    const url = (await temporaryServer()).url('postgres')
    const store = await openStore(url)
    await store.addSessions([SESSION])
    const hand = await openHand(url, 'begin; lock table workspace_gateway.session in access exclusive mode')
    const writing = Promise.resolve(write(store))
    writing.catch(() => {})
    const pid = await waitingFor(url, `wait_event_type = 'Lock'`)
    await execute(url, `select pg_terminate_backend(${pid})`)
    await hand.query('rollback')
    await expect(writing).rejects.toBeInstanceOf(StoreUnavailableError)
    // The write is not retried later or on another connection either.
    await store.ping()
    expect(await countSessions(url)).toBe(1)
  })
})

/**
 * Makes a database with its tables on a small disk. The write-ahead log of the server is elsewhere, because the server
 * would end without room for it.
 */
async function databaseOnSmallDisk() {
  const disk = smallDisk(24 * 1_048_576)
  const directory = join(disk.path, 'tables')
  mkdirSync(directory)
  const { uid, gid } = SERVER_USER
  if (uid !== undefined && gid !== undefined) chownSync(directory, uid, gid)
  const server = await temporaryServer()
  await execute(server.url('postgres'), `create tablespace small location '${directory}'`)
  await execute(server.url('postgres'), 'create database small tablespace small')
  return { disk, url: server.url('small') }
}

describe.skipIf(POSTGRES_DIRECTORY === null || !canMount())('a gateway whose PostgreSQL disk is full', () => {
  const login = ({ url }: ServingProcess, email: string): Promise<Answer> => postJson(`${url}/login`, { email })
  const readiness = ({ url }: ServingProcess) => ask(`${url}/readyz`)

  test('fails writes and readiness with 503 and Retry-After, answers reads, and recovers by itself', async () => {
    const { disk, url } = await databaseOnSmallDisk()
    const database = ['--database', url]
    await runHere(['import', '-', ...database], { stdin: SMALL_WORLD })
    const gateway = await serveForTest([...database, '--log-level', 'silent', '--sessions-per-user', '100000'])
    const { accessToken, refreshToken } = (await login(gateway, ANA)).json()
    const projects = await ask(`${gateway.url}/projects`, { headers: bearer(accessToken) })
    expect([projects.status, (await readiness(gateway)).status]).toEqual([200, 200])
    disk.fill()
    // First, the logins use up the room in the pages of the tables.
    const refusal = async () => (await login(gateway, BEN)).status
    await expect.poll(refusal, { interval: 0 }).toBe(503)
    for (let n = 0; n < 5; n += 1) {
      const unready = await readiness(gateway)
      expect([unready.status, unready.json().code, unready.headers.get('retry-after')]).toEqual([
        503,
        'UNAVAILABLE',
        '1',
      ])
    }
    const read = await ask(`${gateway.url}/projects`, { headers: bearer(accessToken) })
    expect([read.status, read.text]).toEqual([200, projects.text])
    expect((await ask(`${gateway.url}/healthz`)).status).toBe(200)
    disk.empty()
    expect((await readiness(gateway)).status).toBe(200)
    expect((await login(gateway, BEN)).status).toBe(200)
    const logout = { method: 'DELETE', headers: { 'content-type': 'application/json' } }
    expect((await ask(`${gateway.url}/logout`, { ...logout, body: JSON.stringify({ refreshToken }) })).status).toBe(200)
    expect((await ask(`${gateway.url}/projects`, { headers: bearer(accessToken) })).status).toBe(401)
    // The check for room leaves nothing behind.
    const tables = `select relname from pg_class where relname = 'room_check'`
    expect(await execute(url, tables)).toEqual([])
  })

  test('fails to start with one sentence', async () => {
    const { disk, url } = await databaseOnSmallDisk()
    disk.fill()
    const { exitCode, stderr } = await runHere(['serve', '--port', '0', '--database', url])
    expect([exitCode, stderr.trim().split('\n').length]).toEqual([1, 1])
    // The connection to a new database already writes a file.
    expect(stderr).toMatch(/disk of the database is full|No space left on device/)
  })
})
