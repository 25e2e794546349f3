// Tests a PostgreSQL server that goes silent: neither a step of a move nor a statement without a time limit waits for it
// forever.
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { StoreUnavailableError } from '../../src/store/contract.ts'
import { readPostgresUrl } from '../../src/store/postgres/engine/connection-string.ts'
import { createPool } from '../../src/store/postgres/engine/pool.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { startCuttableRelay } from '../support/cuttable-relay.ts'
import { POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'
import { startRelay } from '../support/relay.ts'

const OPTIONS = { connectTimeoutMs: 30_000, statementTimeoutMs: 2_000, poolSize: 1 }
/** The connections of Linux, each with its running timer. */
const CONNECTIONS = '/proc/net/tcp'
const KEEP_ALIVE_TIMER = '02'

const ESTABLISHED = '01'
/** More than the systems hold for a connection. */
const LONG_TEXT = 64 * 1_048_576

/** The connections to a port. */
function connectionsTo(port: number) {
  const portOf = (address = '') => Number.parseInt(address.split(':')[1] ?? '', 16)
  const lines = readFileSync(CONNECTIONS, 'utf8').trim().split('\n').slice(1)
  const all = lines.map((line) => {
    const [, local, remote, state, , timer = ''] = line.trim().split(/\s+/)
    return { localPort: portOf(local), remotePort: portOf(remote), state, timer }
  })
  return all.filter(({ remotePort }) => remotePort === port)
}

/** How many connections to the port this side has not closed. Other sockets of the process come and go. */
function openTo(port: number): number {
  return connectionsTo(port).filter(({ state }) => state === ESTABLISHED).length
}

/** Returns the hundredths of a second until the next keep-alive probe, or null while another timer runs. */
function keepAliveOf(localPort: number, remotePort: number): number | null {
  const found = connectionsTo(remotePort).find((connection) => connection.localPort === localPort)
  const [kind, left = ''] = found?.timer.split(':') ?? []
  return kind === KEEP_ALIVE_TIMER ? Number.parseInt(left, 16) : null
}

/** Opens a connection without a statement timeout through a relay. The timers of the program stand still afterwards. */
async function connectUntimed() {
  const url = new URL(await temporaryDatabase())
  const relay = await startCuttableRelay(Number(url.port))
  Object.assign(url, { hostname: '127.0.0.1', port: String(relay.port), search: 'sslmode=disable' })
  const pool = createPool(readPostgresUrl(url.href), OPTIONS)
  onTestFinished(() => pool[Symbol.asyncDispose]())
  const connection = await pool.dedicated()
  onTestFinished(() => connection.close())
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  return { pool, connection, relay }
}

/** Returns a function that lets the time of a connect pass, and then looks. */
function afterEachTimeout<T>(look: () => T): () => Promise<T> {
  return async () => {
    await vi.advanceTimersByTimeAsync(OPTIONS.connectTimeoutMs)
    return look()
  }
}

describe.skipIf(POSTGRES_URL === null)('a PostgreSQL server that goes silent', () => {
  test('ends a statement without a time limit, once it does not answer other connections either', async () => {
    const { connection, relay } = await connectUntimed()
    relay.cut('silent')
    let outcome = 'waits'
    const asked = relay.accepted()
    connection.script('select 1').catch((error: unknown) => {
      outcome = String(error)
    })
    await expect
      .poll(afterEachTimeout(() => outcome))
      .toBe('StoreUnavailableError: the database did not answer in time')
    expect(relay.accepted() - asked).toBe(3)
    expect(connection.isLost()).toBe(true)
  })

  test.skipIf(!existsSync(CONNECTIONS))(
    'is told from one whose statement is slow, which answers other connections',
    async () => {
      const { pool, connection, relay } = await connectUntimed()
      const holder = await pool.dedicated()
      onTestFinished(() => holder.close())
      await holder.script('select pg_advisory_lock(7)')
      const answer = connection.script("select pg_advisory_lock(7), 'done' as state")
      const asked = relay.accepted()
      for (const probes of [1, 2, 3, 4]) {
        await vi.advanceTimersByTimeAsync(5 * OPTIONS.connectTimeoutMs)
        await expect.poll(() => [relay.accepted() - asked, openTo(relay.port)]).toEqual([probes, 2])
      }
      await holder.script('select pg_advisory_unlock(7)')
      expect(await answer).toMatchObject([{ state: 'done' }])
    },
  )

  test('counts as lost once a proxy ends the connection, although it takes nothing of a long text', async () => {
    const { connection, relay } = await connectUntimed()
    relay.cut('silent')
    const answer = connection.query({ name: 'long', text: 'select length($1) as n' }, ['x'.repeat(LONG_TEXT)])
    answer.catch(() => {})
    relay.cut('ended')
    await expect.poll(() => connection.isLost()).toBe(true)
    await expect(answer).rejects.toThrow('the connection to the database was lost')
  })

  test.skipIf(!existsSync(CONNECTIONS))('does not keep a connection that is closed', async () => {
    const { connection, relay } = await connectUntimed()
    expect(openTo(relay.port)).toBe(1)
    relay.cut('silent')
    connection.close()
    await expect.poll(afterEachTimeout(() => openTo(relay.port))).toBe(0)
  })

  test('makes one step of a move fail, and the next attempt succeeds', async () => {
    const url = new URL(await temporaryDatabase())
    let isSilent = false
    const { port } = await startRelay({
      host: url.hostname,
      port: Number(url.port),
      relay(client, upstream) {
        let isHeld = false
        client.on('data', (chunk: Buffer) => {
          isHeld ||= isSilent && chunk.includes('begin')
          if (!isHeld) upstream.write(chunk)
        })
        upstream.on('data', (chunk) => client.write(chunk))
      },
    })
    Object.assign(url, { hostname: '127.0.0.1', port: String(port), search: 'sslmode=disable' })
    await using store = await openPostgresStore(url.href, OPTIONS)
    expect(await store.beginMove({ id: 'm', other: 'elsewhere' })).toBe(true)
    isSilent = true
    // The step waits for many time limits in a row.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    let outcome: unknown = 'waits'
    Promise.resolve(store.fenceWrites('m', 1_000)).catch((error: unknown) => {
      outcome = error
    })
    const afterALimit = async () => {
      await vi.advanceTimersByTimeAsync(OPTIONS.statementTimeoutMs + 1_000)
      return outcome
    }
    await expect.poll(afterALimit).toBeInstanceOf(StoreUnavailableError)
    vi.useRealTimers()
    isSilent = false
    expect(await store.fenceWrites('m', 1_000)).toBe(true)
  })

  test.skipIf(!existsSync(CONNECTIONS))('gets a keep-alive probe within ten seconds', async () => {
    const url = await temporaryDatabase()
    await using pool = createPool(readPostgresUrl(url), OPTIONS)
    const connection = await pool.dedicated()
    const [found] = await connection.script(
      'select client_port as port from pg_stat_activity where pid = pg_backend_pid()',
    )
    const ask = () => keepAliveOf(Number(found?.port), Number(new URL(url).port))
    await expect.poll(ask).not.toBeNull()
    expect(ask()).toBeLessThanOrEqual(1_000)
    connection.close()
  })
})
