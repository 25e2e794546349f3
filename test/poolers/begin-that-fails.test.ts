// Tests a pooler, or a server behind it, that fails to begin a transaction: later statements on the connection work as
// usual.
import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { StoreUnavailableError } from '../../src/store/contract.ts'
import type { Connection } from '../../src/store/postgres/connection.ts'
import { readPostgresUrl } from '../../src/store/postgres/engine/connection-string.ts'
import { ConnectionLostError } from '../../src/store/postgres/engine/faults/pg-errors.ts'
import { createPool } from '../../src/store/postgres/engine/pool.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { execute, POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'
import { startRelay } from '../support/relay.ts'

const OPTIONS = { connectTimeoutMs: 30_000, statementTimeoutMs: 10_000, pooling: 'transaction', poolSize: 1 } as const

/** The first byte of a statement without parameters in PostgreSQL's protocol, version 3. */
const QUERY = 'Q'.charCodeAt(0)

function message(type: string, content: string): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(Buffer.byteLength(content) + 4)
  return Buffer.concat([Buffer.from(type), length, Buffer.from(content)])
}

/** The transaction begins, and whatever follows in the same message is cancelled. */
function cancelled(begin: string, _client: Socket, upstream: Socket): void {
  const cancel = `do 'begin raise exception using errcode = $a$57014$a$; end'`
  const [first, ...rest] = begin.split(';')
  upstream.write(message('Q', `${[first, cancel, ...rest].join(';')}\0`))
}

/** As pgcat does when it has no server to give: it reports an error and keeps the client. */
function refused(_begin: string, client: Socket): void {
  client.write(Buffer.concat([message('E', 'SERROR\0VERROR\0C58000\0Mno server\0\0'), message('Z', 'I')]))
}

interface Front {
  readonly url: string
  /** Makes the next BEGIN fail in this way. */
  readonly failOnce: (how: typeof cancelled | typeof refused) => void
}

/** Starts a relay in front of the server at `url`. */
async function startFront(url: string): Promise<Front> {
  let fail: typeof cancelled | null = null

  function handOn(one: Buffer, client: Socket, upstream: Socket): void {
    const text = one[0] === QUERY ? one.toString('utf8', 5, one.byteLength - 1) : ''
    const how = text.startsWith('begin') ? fail : null
    if (how === null) {
      upstream.write(one)
      return
    }
    fail = null
    how(text, client, upstream)
  }

  const to = new URL(url)
  const { port } = await startRelay({
    host: to.hostname,
    port: Number(to.port),
    relay(client, upstream) {
      upstream.on('data', (chunk) => client.write(chunk))
      let rest = Buffer.alloc(0)
      // The first message of a session has no type byte.
      let typeBytes = 0
      client.on('data', (chunk: Buffer) => {
        rest = Buffer.concat([rest, chunk])
        while (rest.byteLength >= typeBytes + 4) {
          const end = typeBytes + rest.readInt32BE(typeBytes)
          if (rest.byteLength < end) return
          handOn(rest.subarray(0, end), client, upstream)
          rest = rest.subarray(end)
          typeBytes = 1
        }
      })
    },
  })
  return {
    url: Object.assign(new URL(to), { hostname: '127.0.0.1', port: String(port), search: 'sslmode=disable' }).href,
    failOnce(how) {
      fail = how
    },
  }
}

function settingsOf(connection: Connection): Promise<unknown> {
  const text = `select current_setting('statement_timeout') as timeout, current_setting('synchronous_commit') as commit`
  return connection.query({ name: 'settings', text })
}

describe.skipIf(POSTGRES_URL === null)('a transaction whose BEGIN fails', () => {
  const expected = [{ timeout: '10s', commit: 'on' }]

  for (const how of [cancelled, refused]) {
    test(`${how.name}: later transactions begin with their settings, and none stays open`, async () => {
      const url = await temporaryDatabase()
      await execute(url, `alter database ${new URL(url).pathname.slice(1)} set synchronous_commit = off`)
      const front = await startFront(url)
      await using pool = createPool(readPostgresUrl(front.url), OPTIONS)
      // The first write begins a transaction of its own before, which asks whether commits wait for a standby.
      expect(await pool.transaction(settingsOf)).toEqual(expected)
      for (const run of [pool.transaction, pool.once]) {
        front.failOnce(how)
        await expect(run(settingsOf)).rejects.toBeInstanceOf(StoreUnavailableError)
        expect(await pool.once(settingsOf)).toEqual(expected)
        expect(await pool.transaction(settingsOf)).toEqual(expected)
      }
      const open = `select state from pg_stat_activity where datname = current_database() and state like 'idle in%'`
      await expect.poll(() => execute(url, open)).toEqual([])
    })

    test(`${how.name}: it is undecided whether a write behind it took effect`, async () => {
      const url = await temporaryDatabase()
      await execute(url, 'create table written (number int)')
      const front = await startFront(url)
      await using pool = createPool(readPostgresUrl(front.url), OPTIONS)
      const insert = { name: 'write', text: 'insert into written values ($1) returning number' }
      front.failOnce(how)
      await expect(pool.once((connection) => connection.query(insert, [1]))).rejects.toBeInstanceOf(ConnectionLostError)
      expect(await pool.once((connection) => connection.query(insert, [2]))).toEqual([{ number: 2 }])
    })
  }

  test('refused: a move that fences its source tries again', async () => {
    const url = await temporaryDatabase()
    const front = await startFront(url)
    await using store = await openPostgresStore(front.url, OPTIONS)
    expect(await store.beginMove({ id: 'm', other: 'target' })).toBe(true)
    front.failOnce(refused)
    expect(await store.fenceWrites('m', 60_000)).toBe(true)
  })

  test('a connection that a caller leaves in a transaction is not handed to another caller in it', async () => {
    const url = await temporaryDatabase()
    await using pool = createPool(readPostgresUrl(url), OPTIONS)
    await pool.once((connection) => connection.begin())
    expect(await pool.transaction(settingsOf)).toEqual(expected)
    await using direct = createPool(readPostgresUrl(url), { ...OPTIONS, pooling: 'auto' })
    await direct.once(async (connection) => {
      await connection.begin()
      await connection.script('select 1 / 0').catch(() => {})
    })
    expect(await direct.once(settingsOf)).toEqual(expected)
  })
})
