// Tests the PostgreSQL store behind PgBouncer in transaction mode.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { StoreSessionLostError } from '../../src/store/contract.ts'
import { readPostgresUrl } from '../../src/store/postgres/engine/connection-string.ts'
import { createPool } from '../../src/store/postgres/engine/pool.ts'
import type { Pooling } from '../../src/store/postgres/engine/session-settings.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { describeEdits } from '../contract/edits.ts'
import { describeMoves } from '../contract/moving.ts'
import { describePages } from '../contract/pages.ts'
import { emptied, moving } from '../contract/postgres-databases.ts'
import { describeSignIn } from '../contract/sign-in.ts'
import { describeStore } from '../contract/store.ts'
import { run } from '../support/command-line.ts'
import { HAS_PGBOUNCER, type Pooler, startPgbouncer } from '../support/pgbouncer.ts'
import { execute, POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'

/** Runs the whole contract; otherwise only the part that every request needs. */
const IS_LONG = process.env.TEST_POOLERS === 'all'
const CONNECTIONS = 5
const CLIENTS = 200

const OPTIONS = { connectTimeoutMs: 30_000, statementTimeoutMs: 10_000, poolSize: CLIENTS }

describe.skipIf(POSTGRES_URL === null || !HAS_PGBOUNCER)('behind PgBouncer in transaction mode', () => {
  let pooler: Pooler
  beforeAll(async () => {
    pooler = await startPgbouncer(POSTGRES_URL ?? '', { connections: CONNECTIONS })
  })
  afterAll(() => pooler[Symbol.asyncDispose]())

  const open = (url: string) => openPostgresStore(pooler.through(url), OPTIONS)
  const poolTo = (url: string, pooling?: Pooling) =>
    createPool(readPostgresUrl(pooler.through(url)), { ...OPTIONS, pooling })

  describeStore('postgres behind PgBouncer', emptied(open))
  if (IS_LONG) {
    describePages('postgres behind PgBouncer', emptied(open))
    describeEdits('postgres behind PgBouncer', emptied(open))
    describeMoves('postgres behind PgBouncer', moving(open))
    describeSignIn('postgres behind PgBouncer', moving(open))
  }

  test('200 concurrent clients share five connections, and every one of their writes is synchronous', async () => {
    const url = await temporaryDatabase()
    const name = new URL(url).pathname.slice(1)
    await execute(url, 'create table written (pid int, setting text, isolation text, timeout text)')
    for (const setting of ['synchronous_commit = off', `default_transaction_isolation = 'serializable'`]) {
      await execute(url, `alter database ${name} set ${setting}`)
    }
    await using pool = poolTo(url)
    const text = `insert into written select pg_backend_pid(), current_setting('synchronous_commit'),
      current_setting('transaction_isolation'), current_setting('statement_timeout') where $1::int > 0`
    await Promise.all(
      Array.from({ length: CLIENTS }, async (_, index) => {
        for (let round = 1; round <= 5; round += 1) {
          const run = index % 2 === 0 ? pool.once : pool.transaction
          await run((connection) => connection.query({ name: 'write', text }, [round]))
        }
      }),
    )
    expect(
      await execute(url, `select setting, isolation, timeout, count(*)::int as writes from written group by 1, 2, 3`),
    ).toEqual([{ setting: 'on', isolation: 'read committed', timeout: '10s', writes: CLIENTS * 5 }])
    const [{ servers } = {}] = await execute(url, 'select count(distinct pid)::int as servers from written')
    expect(servers).toBeGreaterThan(1)
    expect(servers).toBeLessThanOrEqual(CONNECTIONS)
    // No setting remains for the next client of the connection.
    const [left] = await pool.once((connection) =>
      connection.script(`select current_setting('synchronous_commit') as a, current_setting('statement_timeout') as b`),
    )
    expect(left).toEqual({ a: 'off', b: '0' })
  })

  test('settings that other clients leave in a session change nothing', async () => {
    const url = await temporaryDatabase()
    await using store = await open(url)
    await using pool = poolTo(url)
    const intruder = pooler.through(url)
    for (let round = 0; round < CONNECTIONS * 2; round += 1) {
      await execute(
        intruder,
        `set synchronous_commit = off; set statement_timeout = 1000; set default_transaction_isolation = 'serializable';
         set standard_conforming_strings = off`,
      )
    }
    const change = {
      type: 'putDocument',
      email: 'ana@example.com',
      kind: 'project',
      id: 'p',
      ref: 'r',
      text: '"\\\\"',
    } as const
    const [settings] = await pool.once((connection) =>
      connection.query({
        name: 'settings',
        text: `select current_setting('synchronous_commit') as commit, current_setting('statement_timeout') as timeout,
          current_setting('transaction_isolation') as isolation`,
      }),
    )
    expect(settings).toEqual({ commit: 'on', timeout: '10s', isolation: 'read committed' })
    expect(await store.applyChanges([change])).toEqual(['added'])
    const user = await store.userByEmail('ana@example.com')
    const [documents = []] = await store.documentsOf([
      { userId: user?.id ?? 0, kind: 'project', after: 0, limit: null },
    ])
    expect(documents.map(({ text }) => text)).toEqual(['"\\\\"'])
  })

  test('a failing statement leaves no transaction open', async () => {
    await using pool = poolTo(await temporaryDatabase())
    for (let round = 0; round < CONNECTIONS * 2; round += 1) {
      await expect(
        pool.once((connection) => connection.query({ name: 'f', text: 'select 1 / $1::int' }, [0])),
      ).rejects.toThrow('division by zero')
      expect(await pool.once((connection) => connection.query({ name: 'one', text: 'select 1 as one' }))).toEqual([
        { one: 1 },
      ])
    }
  })

  test('the pool refuses a server that became read-only under its connection', async () => {
    const url = await temporaryDatabase()
    await using pool = poolTo(url)
    const ask = () => pool.once((connection) => connection.query({ name: 'one', text: 'select 1 as one' }))
    expect(await ask()).toEqual([{ one: 1 }])
    await execute(url, `alter database ${new URL(url).pathname.slice(1)} set default_transaction_read_only = on`)
    await execute(
      url,
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
    await expect.poll(() => ask().catch((error: Error) => error.message)).toContain('accepts')
  })

  test('with pooling "session", a command exits with the option to set, and creates nothing', async () => {
    const url = await temporaryDatabase()
    for (const args of [['serve', '--port', '0'], ['dump']]) {
      const { exitCode, stdout, stderr } = await run([
        ...args,
        '--database',
        pooler.through(url),
        '--database-pooling',
        'session',
      ])
      expect({ exitCode, stdout, stderr }).toEqual({
        exitCode: 1,
        stdout: '',
        stderr:
          'a pooler between the gateway and the database gives each transaction another server connection: set --database-pooling transaction\n',
      })
    }
    expect(await execute(url, `select to_regnamespace('workspace_gateway') as made`)).toEqual([{ made: null }])
  })

  test('a prepared statement that another client left behind leads to StoreSessionLostError', async () => {
    const url = await temporaryDatabase()
    await using single = await startPgbouncer(url, { connections: 1 })
    const target = readPostgresUrl(single.through(url))
    const ask = async () => {
      await using pool = createPool(target, { ...OPTIONS, pooling: 'session' })
      return pool.once((connection) => connection.query({ name: 'one', text: 'select 1 as one' }))
    }
    expect(await ask()).toEqual([{ one: 1 }])
    await expect(ask()).rejects.toThrow(StoreSessionLostError)
  })

  test('with pooling "session", the store accepts a pooler in session mode', async () => {
    await using sessions = await startPgbouncer(POSTGRES_URL ?? '', { connections: 5, mode: 'session' })
    const options = { ...OPTIONS, poolSize: 2, pooling: 'session' } as const
    await using store = await openPostgresStore(sessions.through(await temporaryDatabase()), options)
    await store.ping()
  })

  test('isPooled detects the pooler, unless the pooling option says what it is', async () => {
    const url = await temporaryDatabase()
    const isPooled = async (target: string, pooling?: Pooling) => {
      await using pool = createPool(readPostgresUrl(target), { ...OPTIONS, pooling })
      return pool.once(async (connection) => connection.isPooled())
    }
    expect(await isPooled(url)).toBe(false)
    expect(await isPooled(url, 'transaction')).toBe(true)
    expect(await isPooled(pooler.through(url))).toBe(true)
    expect(await isPooled(pooler.through(url), 'session')).toBe(false)
  })
})
