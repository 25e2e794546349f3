// Tests the pool of PostgreSQL connections: its size, waiting callers, lost connections, retries, and settings.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { StoreUnavailableError } from '../src/store/contract.ts'
import type { Connection, Statement } from '../src/store/postgres/connection.ts'
import { readPostgresUrl } from '../src/store/postgres/engine/connection-string.ts'
import { createWritableCheck } from '../src/store/postgres/engine/faults/writable-check.ts'
import { createPool } from '../src/store/postgres/engine/pool.ts'
import { asNewUser, execute, POSTGRES_URL, temporaryDatabase } from './support/postgres.ts'

/** A connection may take as long as on a busy machine. */
const OPTIONS = { connectTimeoutMs: 30_000, statementTimeoutMs: 500, poolSize: 3 }
const PID: Statement = { name: 'pid', text: 'select pg_backend_pid() as pid' }
const SLEEP: Statement = { name: 'sleep', text: 'select pg_sleep($1)' }

async function pidOf(connection: Connection): Promise<number> {
  return (await connection.query<{ pid: number }>(PID))[0]?.pid ?? 0
}

/** The first byte of the message ReadyForQuery in PostgreSQL's protocol, version 3. */
const READY_FOR_QUERY = 'Z'.charCodeAt(0)
const FATAL = Buffer.from('SFATAL\0VFATAL\0C57P02\0Mthe server is crashing\0\0')

/**
 * Starts a server in front of another one, and returns its URL: it ends the first connection in the same bytes that
 * answer its first statement.
 */
async function endFirstAtItsBegin(to: URL): Promise<string> {
  let isFirst = true
  const front = createServer((socket) => {
    const isEnded = isFirst
    isFirst = false
    let ready = 0
    const back = connect(Number(to.port), to.hostname)
    socket.on('error', () => {}).on('close', () => back.destroy())
    back.on('error', () => {}).on('close', () => socket.destroy())
    socket.pipe(back)
    back.on('data', (chunk: Buffer) => {
      // Each answer is short and arrives in one piece; its last message consists of this type and five more bytes.
      if (chunk.at(-6) === READY_FOR_QUERY) ready += 1
      if (!isEnded || ready < 2) return socket.write(chunk)
      const length = Buffer.alloc(4)
      length.writeInt32BE(FATAL.byteLength + 4)
      return socket.end(Buffer.concat([chunk, Buffer.from('E'), length, FATAL]))
    })
  }).listen(0, '127.0.0.1')
  await once(front, 'listening')
  onTestFinished(() => void front.close())
  const { port } = front.address() as AddressInfo
  return Object.assign(new URL(to), { port: String(port), hostname: '127.0.0.1', search: 'sslmode=disable' }).href
}

describe.skipIf(POSTGRES_URL === null)('the connection pool', () => {
  const open = (url: string) => createPool(readPostgresUrl(url), OPTIONS)

  test('never opens more connections than its size, and hands them to waiting callers', async () => {
    await using pool = open(await temporaryDatabase())
    const pids = await Promise.all(
      Array.from({ length: 20 }, () =>
        pool.once(async (connection) => {
          await delay(20)
          return pidOf(connection)
        }),
      ),
    )
    expect(new Set(pids).size).toBe(3)
  })

  test('lets writes hold half of the connections, so that reads go on, and refuses writes that wait too long', async () => {
    await using pool = createPool(readPostgresUrl(await temporaryDatabase()), {
      ...OPTIONS,
      poolSize: 2,
      connectTimeoutMs: 1_000,
    })
    async function holdWrite() {
      const isOver = Promise.withResolvers<void>()
      const started = Promise.withResolvers<void>()
      const held = pool.write(async (connection) => {
        started.resolve()
        await isOver.promise
        return pidOf(connection)
      })
      await started.promise
      return async () => {
        isOver.resolve()
        return held
      }
    }
    const endFirst = await holdWrite()
    const late = pool.write(pidOf)
    expect(pool.counts()).toMatchObject({ used: 1, waiting: 1 })
    expect(await pool.once(pidOf)).toBeGreaterThan(0)
    await expect(late).rejects.toThrow('in time')
    // From now on, others are refused at once, until a write ends.
    const refused = expect(pool.transaction(pidOf)).rejects.toBeInstanceOf(StoreUnavailableError)
    expect(pool.counts()).toMatchObject({ waiting: 0 })
    await refused
    expect([await endFirst(), await pool.transaction(pidOf)]).toEqual([expect.any(Number), expect.any(Number)])
    const endSecond = await holdWrite()
    const next = pool.write(pidOf)
    expect(pool.counts()).toMatchObject({ waiting: 1 })
    expect([await endSecond(), await next]).toEqual([expect.any(Number), expect.any(Number)])
  })

  test('writes as a role that may not see for what the server waits', async () => {
    const url = await temporaryDatabase()
    await execute(url, 'revoke select on pg_stat_activity from public')
    await using pool = open(await asNewUser(url))
    expect(await pool.write(pidOf)).toBeGreaterThan(0)
  })

  test('rejects a statement that takes too long as unavailable, and runs the next one', async () => {
    await using pool = open(await temporaryDatabase())
    await expect(pool.once((connection) => connection.query(SLEEP, [5]))).rejects.toBeInstanceOf(StoreUnavailableError)
    expect(await pool.once(pidOf)).toBeGreaterThan(0)
  })

  test('closes a connection after its use if it was being opened when the pool was closed', async () => {
    const url = await temporaryDatabase()
    const pool = open(url)
    const pid = pool.once(pidOf)
    await pool[Symbol.asyncDispose]()
    const isThere = async () => (await execute(url, `select 1 from pg_stat_activity where pid = ${await pid}`)).length
    await expect.poll(isThere).toBe(0)
  })

  test('rejects waiting callers at once when it is closed', async () => {
    const pool = createPool(readPostgresUrl(await temporaryDatabase()), { ...OPTIONS, poolSize: 1 })
    const started = Promise.withResolvers<void>()
    const held = pool
      .once((connection) => {
        started.resolve()
        return connection.query(SLEEP, [60])
      })
      .catch((error: unknown) => error)
    await started.promise
    const waiting = [1, 2].map(() => pool.once(pidOf).catch((error: unknown) => error))
    await pool[Symbol.asyncDispose]()
    for (const error of await Promise.all(waiting)) {
      expect(error).toBeInstanceOf(StoreUnavailableError)
      expect(String(error)).toContain('the store is closed')
    }
    expect(await held).toBeInstanceOf(StoreUnavailableError)
    expect(pool.counts()).toMatchObject({ used: 0, idle: 0, waiting: 0 })
  })

  test('opens a separate connection for a long transaction, and closes it afterwards', async () => {
    const url = await temporaryDatabase()
    await using pool = open(url)
    const pid = await pool.longTransaction(async (connection) => {
      expect(pool.counts().used).toBe(0)
      return pidOf(connection)
    })
    const isThere = async () => (await execute(url, `select 1 from pg_stat_activity where pid = ${pid}`)).length === 1
    await expect.poll(isThere).toBe(false)
  })

  test('after a full disk, the writable check fails until a write finds room or the role may not try', async () => {
    const url = await temporaryDatabase()
    await execute(url, 'create schema workspace_gateway')
    for (const pooled of [url, await asNewUser(url)]) {
      await using pool = open(pooled)
      const assertWritable = createWritableCheck(pool)
      await assertWritable()
      const filling = pool.once((connection) => connection.script(`do $$ begin raise disk_full; end $$`))
      await expect(filling).rejects.toThrow('the disk of the database is full')
      await assertWritable()
      expect(await execute(url, `select 1 from pg_tables where schemaname = 'workspace_gateway'`)).toEqual([])
    }
    await using pool = open(url)
    const assertWritable = createWritableCheck(pool)
    await pool.once((connection) => connection.script(`do $$ begin raise disk_full; end $$`)).catch(() => {})
    await execute(url, 'drop schema workspace_gateway')
    await expect(assertWritable()).rejects.toThrow('workspace_gateway')
    await expect(assertWritable()).rejects.toThrow('workspace_gateway')
    await execute(url, 'create schema workspace_gateway')
    await assertWritable()
    await execute(url, 'drop schema workspace_gateway')
    await assertWritable()
  })

  test('rejects a caller that waits too long for a connection', async () => {
    await using pool = createPool(readPostgresUrl(await temporaryDatabase()), { ...OPTIONS, connectTimeoutMs: 1_000 })
    const isOver = Promise.withResolvers<void>()
    const busy = Array.from({ length: 3 }, () => pool.once(() => isOver.promise))
    await expect.poll(() => pool.counts().used).toBe(3)
    await expect(pool.once(pidOf)).rejects.toThrow('in time')
    isOver.resolve()
    await Promise.all(busy)
  })

  test('tells waiting callers why no connection can be opened, but lets them wait while one is in use', async () => {
    const url = await asNewUser(await temporaryDatabase())
    await execute(POSTGRES_URL ?? '', `alter role ${new URL(url).username} connection limit 1`)
    await using pool = open(url)
    const isOver = Promise.withResolvers<void>()
    const first = pool.once((connection) => isOver.promise.then(() => pidOf(connection)))
    await expect.poll(() => pool.counts().used).toBe(1)
    const second = pool.once(pidOf)
    // One after the other: by then the second caller was refused, too.
    for (let attempt = 0; attempt < 2; attempt += 1) await expect(pool.dedicated()).rejects.toThrow()
    isOver.resolve()
    expect(await second).toBe(await first)
    await using unreachable = open(Object.assign(new URL(url), { port: '1' }).href)
    await expect(unreachable.once(pidOf)).rejects.toThrow('can be reached')
  })

  test('tries to open another connection for the next caller after one has waited too long', async () => {
    const url = await asNewUser(await temporaryDatabase())
    const limit = (count: number) =>
      execute(POSTGRES_URL ?? '', `alter role ${new URL(url).username} connection limit ${count}`)
    await limit(1)
    await using pool = createPool(readPostgresUrl(url), { ...OPTIONS, connectTimeoutMs: 1_000 })
    const isOver = Promise.withResolvers<void>()
    const first = pool.once((connection) => isOver.promise.then(() => pidOf(connection)))
    await expect.poll(() => pool.counts().used).toBe(1)
    await expect(pool.once(pidOf)).rejects.toThrow('in time')
    await limit(2)
    expect(await pool.once(pidOf)).toBeGreaterThan(0)
    isOver.resolve()
    await first
  })

  test('discards a connection that ends with its first statement, and opens another for the next call', async () => {
    const url = new URL(await temporaryDatabase())
    const through = await endFirstAtItsBegin(url)
    await using pool = createPool(readPostgresUrl(through), { ...OPTIONS, connectTimeoutMs: 5_000 })
    await expect(pool.once(pidOf)).rejects.toThrow('the connection to the database was lost')
    expect(pool.counts()).toMatchObject({ used: 0, idle: 0 })
    expect(await pool.once(pidOf)).toBeGreaterThan(0)
  })

  test('runs a repeatable action again when its connection ends, but any other action only once', async () => {
    const url = await temporaryDatabase()
    await using pool = open(url)
    let runs = 0
    const endedOnce = async (connection: Connection): Promise<number> => {
      runs += 1
      const pid = await pidOf(connection)
      if (runs === 1) await execute(url, `select pg_terminate_backend(${pid})`)
      await delay(50)
      return pidOf(connection)
    }
    expect(await pool.repeatable(endedOnce)).toBeGreaterThan(0)
    expect(runs).toBe(2)
    runs = 0
    await expect(pool.once(endedOnce)).rejects.toBeInstanceOf(StoreUnavailableError)
    expect(runs).toBe(1)
  })

  test('closes the other connections to a server when one of them is lost', async () => {
    const url = await temporaryDatabase()
    await using pool = open(url)
    const all = Promise.withResolvers<void>()
    const pids: number[] = []
    const together = Array.from({ length: 3 }, () =>
      pool.once(async (connection) => {
        pids.push(await pidOf(connection))
        if (pids.length === 3) all.resolve()
        await all.promise
      }),
    )
    await Promise.all(together)
    expect(pool.counts()).toMatchObject({ used: 0, idle: 3 })
    await execute(url, `select pg_terminate_backend(${pids[0]})`)
    await expect.poll(() => pool.counts().idle).toBe(0)
    // No caller waits, so no new connection is opened before one does. One that had been started would be there by now.
    for (let time = 0; time < 5; time += 1) await execute(url, 'select 1')
    expect(pool.counts()).toMatchObject({ used: 0, idle: 0 })
    expect(pids).not.toContain(await pool.once(pidOf))
  })

  test.each(['40001', '40P01'])(
    'runs a transaction again that the database rolled back because of a conflict (%s), at most five times in total',
    async (code) => {
      const url = await temporaryDatabase()
      await execute(url, 'create table tried (attempt int)')
      await using pool = open(url)
      let attempts = 0
      const conflicting = (until: number) => async (connection: Connection) => {
        attempts += 1
        await connection.script(`insert into tried values (${attempts})`)
        const conflict = `do $$ begin raise exception 'conflict' using errcode = '${code}'; end $$`
        if (attempts < until) await connection.script(conflict)
        return attempts
      }
      expect(await pool.transaction(conflicting(3))).toBe(3)
      expect(await execute(url, 'select attempt from tried')).toEqual([{ attempt: 3 }])
      attempts = 0
      await expect(pool.transaction(conflicting(100))).rejects.toBeInstanceOf(StoreUnavailableError)
      expect(attempts).toBe(5)
      expect(await execute(url, 'select attempt from tried')).toEqual([{ attempt: 3 }])
    },
  )

  test('runs an action only once if it fails for another reason', async () => {
    await using pool = open(await temporaryDatabase())
    let attempts = 0
    const failing = pool.transaction(async (connection) => {
      attempts += 1
      await connection.script('select 1 / 0')
    })
    await expect(failing).rejects.toThrow('division by zero')
    expect(attempts).toBe(1)
    const repeatable = pool.repeatable((connection) => {
      attempts += 1
      return connection.script('select 1 / 0')
    })
    await expect(repeatable).rejects.toThrow('division by zero')
    expect(attempts).toBe(2)
  })

  test('applies the settings that the promises depend on, whatever the defaults of the database', async () => {
    const url = await temporaryDatabase()
    const name = new URL(url).pathname.slice(1)
    await execute(url, `alter database ${name} set synchronous_commit = off`)
    await execute(url, `alter database ${name} set default_transaction_isolation = 'serializable'`)
    await using pool = open(url)
    const [settings] = await pool.once((connection) =>
      connection.script(
        `select current_setting('synchronous_commit') as a, current_setting('transaction_isolation') as b`,
      ),
    )
    expect(settings).toEqual({ a: 'on', b: 'read committed' })
    await execute(url, `alter database ${name} set default_transaction_read_only = on`)
    await using readOnly = open(url)
    await expect(readOnly.once(pidOf)).rejects.toThrow('accepts writes')
  })

  test('passes null in an array as null, whatever the defaults of the database', async () => {
    const url = await temporaryDatabase()
    await execute(url, `alter database ${new URL(url).pathname.slice(1)} set array_nulls = off`)
    await using pool = open(url)
    const text = `select count(*) as nulls from unnest($1::text[]) as given where given is null`
    const counted = await pool.once((connection) => connection.query({ name: 'nulls', text }, [[null, 'NULL']]))
    expect(counted).toEqual([{ nulls: 1 }])
  })

  test('is not affected by shorter lock and transaction timeouts of the database', async () => {
    const url = await temporaryDatabase()
    const name = new URL(url).pathname.slice(1)
    await execute(url, `alter database ${name} set lock_timeout = '100ms'`)
    // Available from PostgreSQL 17 on.
    const newer = `select 1 from pg_settings where name = 'transaction_timeout'`
    if ((await execute(url, newer)).length > 0)
      await execute(url, `alter database ${name} set transaction_timeout = '100ms'`)
    await using pool = createPool(readPostgresUrl(url), { ...OPTIONS, statementTimeoutMs: 20_000 })
    const lock = (connection: Connection) => connection.script('select pg_advisory_xact_lock(1)')
    let waiting: Promise<unknown> = Promise.resolve()
    await pool.transaction(async (connection) => {
      await lock(connection)
      waiting = pool.transaction(lock)
      await connection.query(SLEEP, [0.5])
    })
    await waiting
  })

  test('keeps an idle connection, whatever time limit the database has for one', async () => {
    const url = await temporaryDatabase()
    await execute(url, `alter database ${new URL(url).pathname.slice(1)} set idle_session_timeout = '100ms'`)
    await using pool = open(url)
    const pid = await pool.once(pidOf)
    // By the time that the server ends this connection, that of the pool has been idle for longer.
    const other = new Client({ connectionString: url })
    const ended = Promise.withResolvers<void>()
    other.on('error', () => {}).on('end', ended.resolve)
    await other.connect()
    await ended.promise
    expect(await pool.once(pidOf)).toBe(pid)
  })

  test('passes the options of the URL to the server, but keeps the settings that the promises depend on', async () => {
    const options = encodeURIComponent('-c work_mem=12345kB -c synchronous_commit=off')
    await using pool = open(`${await temporaryDatabase()}?options=${options}`)
    const text = `select current_setting('work_mem') as a, current_setting('synchronous_commit') as b`
    expect(await pool.once((connection) => connection.script(text))).toEqual([{ a: '12345kB', b: 'on' }])
  })

  test('treats a URL with pgbouncer=true as pooled, unless the gateway is told that sessions last', async () => {
    const url = `${await temporaryDatabase()}?pgbouncer=true`
    const isPooled = (connection: Connection) => Promise.resolve(connection.isPooled())
    await using pooled = open(url)
    expect(await pooled.once(isPooled)).toBe(true)
    expect(await pooled.once(pidOf)).toBeGreaterThan(0)
    await using direct = createPool(readPostgresUrl(url), { ...OPTIONS, pooling: 'session' })
    expect(await direct.once(isPooled)).toBe(false)
  })
})

test('connect_timeout of the URL replaces the timeout of the gateway', async () => {
  const accepted: Socket[] = []
  const silent = createServer((socket) => accepted.push(socket)).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  onTestFinished(() => {
    for (const socket of accepted) socket.destroy()
    silent.close()
  })
  const url = `postgres://u@127.0.0.1:${(silent.address() as AddressInfo).port}/d?sslmode=disable&connect_timeout=1`
  await using pool = createPool(readPostgresUrl(url), { ...OPTIONS, connectTimeoutMs: 600_000 })
  await expect(pool.once(pidOf)).rejects.toBeInstanceOf(StoreUnavailableError)
  await expect(pool.dedicated()).rejects.toBeInstanceOf(StoreUnavailableError)
})
