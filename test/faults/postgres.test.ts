import { Client } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { StoreUnavailableError } from '../../src/store/contract.ts'
import type { MigratableStore } from '../../src/store/cutover/contract.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { execute, POSTGRES_DIRECTORY, temporaryServer } from '../support/postgres.ts'

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

async function openHand(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

/** The backend that waits so. */
async function waitingFor(url: string, event: string): Promise<number> {
  const sql = `select pid from pg_stat_activity where pid <> pg_backend_pid() and ${event}`
  await expect.poll(() => execute(url, sql), { timeout: 20_000 }).toHaveLength(1)
  return Number((await execute(url, sql))[0]?.pid)
}

const countSessions = async (url: string) =>
  Number((await execute(url, 'select count(*)::int as count from workspace_gateway.session'))[0]?.count)

describe.skipIf(POSTGRES_DIRECTORY === null)('what PostgreSQL could not promise is not acknowledged', () => {
  test('a commit whose wait for its synchronous standby was cancelled', async () => {
    const url = (await temporaryServer()).url('postgres')
    const store = await openStore(url)
    await execute(url, `alter system set synchronous_standby_names = 'nobody'`)
    await execute(url, 'select pg_reload_conf()')
    await expect
      .poll(() => execute(url, 'show synchronous_standby_names'))
      .toEqual([{ synchronous_standby_names: 'nobody' }])
    const adding = Promise.resolve(store.addSessions([SESSION]))
    adding.catch(() => {})
    const pid = await waitingFor(url, `wait_event = 'SyncRep'`)
    await execute(url, `select pg_cancel_backend(${pid})`)
    await expect(adding).rejects.toBeInstanceOf(StoreUnavailableError)
  })

  test('a write on a primary that accepts none any more: the next one looks for another', async () => {
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
  ])('%s whose connection is lost is not tried again', async (_, write) => {
    const url = (await temporaryServer()).url('postgres')
    const store = await openStore(url)
    await store.addSessions([SESSION])
    const hand = await openHand(url)
    await hand.query('begin; lock table workspace_gateway.session in access exclusive mode')
    const writing = Promise.resolve(write(store))
    writing.catch(() => {})
    const pid = await waitingFor(url, `wait_event_type = 'Lock'`)
    await execute(url, `select pg_terminate_backend(${pid})`)
    await hand.query('rollback')
    await expect(writing).rejects.toBeInstanceOf(StoreUnavailableError)
    // Neither later nor by anybody else.
    await store.ping()
    expect(await countSessions(url)).toBe(1)
  })
})
