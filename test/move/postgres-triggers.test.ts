import { describe, expect, onTestFinished, test } from 'vitest'
import { moveOnline } from '../../src/migration/online.ts'
import { type MigratableStore, StoreClosedError } from '../../src/store/cutover/contract.ts'
import { openStore } from '../../src/store/open-store.ts'
import { ANA, MADE, NOW, put } from '../contract/values.ts'
import { ONLINE_MOVE } from '../support/online-move.ts'
import { execute, openHand, POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'
import { startRelay } from '../support/relay.ts'

const STORE = { lockTimeoutMs: 5_000, connectTimeoutMs: 30_000, statementTimeoutMs: 10_000, poolSize: 4, onFatal() {} }

async function open(url: string) {
  const store = await openStore(url, STORE)
  onTestFinished(() => store[Symbol.asyncDispose]())
  return store
}

async function countOfTriggers(url: string): Promise<number> {
  const rows = await execute(
    url,
    `select count(*)::int as count from pg_trigger where tgname in ('move_guards', 'move_notes')`,
  )
  return Number(rows[0]?.count)
}

/** Holds the lock in a transaction until the returned function is called. */
async function hold(url: string, lock: string): Promise<() => Promise<void>> {
  const client = await openHand(url, `begin; ${lock}`)
  return async () => {
    await client.query('rollback')
  }
}

describe.skipIf(POSTGRES_URL === null)('an online move away from PostgreSQL', () => {
  test('names the lock that prevents its beginning, and leaves nothing behind', async () => {
    const [from, to] = [await temporaryDatabase(), await temporaryDatabase()]
    const [source, target] = [await open(from), await open(to)]
    await hold(from, 'lock table workspace_gateway.audit_entry in row exclusive mode')
    await expect(moveOnline(source, target, ONLINE_MOVE)).rejects.toThrow(
      /^another transaction, .* keeps a table locked: run this again/,
    )
    expect([(await source.moveState()).phase, await countOfTriggers(from)]).toEqual(['live', 0])
    expect(await source.applyChanges([put()])).toEqual(['added'])
  })

  test('begins, takes the changes, stops and resumes writes, and is given up on one connection', async () => {
    const url = new URL(await temporaryDatabase())
    let connections = 0
    const { port } = await startRelay({
      host: url.hostname,
      port: Number(url.port),
      relay(client, upstream) {
        connections += 1
        client.pipe(upstream).pipe(client)
      },
    })
    const source = await open(
      Object.assign(url, { hostname: '127.0.0.1', port: String(port), search: 'sslmode=disable' }).href,
    )
    connections = 0
    expect(await source.beginMove({ id: 'm', other: 'target' })).toBe(true)
    expect(await source.drainChangeLog('m')).toMatchObject({ users: [] })
    expect(await source.fenceWrites('m', 60_000)).toBe(true)
    await source.unfenceWrites('m')
    await source.cancelMove('m')
    expect([(await source.moveState()).phase, connections]).toEqual(['live', 1])
  })

  test('begins although a vacuum holds a lock, because the vacuum gives way to a session that has waited for a second', async () => {
    const [from, to] = [await temporaryDatabase(), await temporaryDatabase()]
    const [source, target] = [await open(from), await open(to)]
    const release = await hold(from, 'lock table workspace_gateway.document in share update exclusive mode')
    // What the server does to an autovacuum: it ends the vacuum for a session that has waited for `deadlock_timeout`.
    const giveWay = async () => {
      const [waiting] = await execute(
        from,
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
           and clock_timestamp() - state_change > interval '1 second'`,
      )
      return waiting !== undefined
    }
    const moving = moveOnline(source, target, ONLINE_MOVE)
    await expect.poll(giveWay, { interval: 20 }).toBe(true)
    await release()
    expect(await moving).toMatchObject({ attempts: 1 })
  })

  test('reports the failed cleanup when it is stopped while a table is locked, and leaves nothing once it is cancelled', async () => {
    const [from, to] = [await temporaryDatabase(), await temporaryDatabase()]
    const [source, target] = [await open(from), await open(to)]
    await source.applyChanges([put()])
    const stopping = new AbortController()
    const told: unknown[] = []
    // A dump holds this lock for as long as it runs.
    const release = await hold(from, 'lock table workspace_gateway.audit_entry in access share mode')
    const moving = moveOnline(source, target, {
      ...ONLINE_MOVE,
      stop: stopping.signal,
      onPhase: () => stopping.abort(new Error('stopped')),
      onCancelFailed: (error) => told.push(error),
    })
    await expect(moving).rejects.toThrow('stopped')
    expect(told).toEqual([expect.objectContaining({ message: expect.stringContaining('keeps a table locked') })])
    expect((await source.moveState()).phase).toBe('live')
    expect(await countOfTriggers(from)).toBeGreaterThan(0)
    await release()
    expect(await source.applyChanges([put({ text: '1' })])).toEqual(['replaced'])

    await source.cancelMove(null)
    expect(await countOfTriggers(from)).toBe(0)
    const rows = await execute(from, 'select count(*)::int as count from workspace_gateway.move_change')
    expect(rows[0]?.count).toBe(0)
  })

  test('says that a transaction which has written and stays open prevents the stop of writes', async () => {
    const from = await temporaryDatabase()
    const source = await open(from)
    await source.applyChanges([put()])
    expect(await source.beginMove({ id: 'm', other: 'target' })).toBe(true)
    const release = await hold(from, 'update workspace_gateway.user set email = email')
    await expect(source.fenceWrites('m', 60_000)).rejects.toThrow(/^writes cannot be stopped .*: run this again/)
    await release()
    expect(await source.fenceWrites('m', 60_000)).toBe(true)
  })

  test('refuses to prune exports of a fenced source before the pruning locks a user', async () => {
    const from = await temporaryDatabase()
    const source = await open(from)
    const stage = 'an export'
    await source.applyChanges([
      put(),
      { type: 'stageExport', stage, email: ANA, ref: 'r', ...MADE, now: NOW },
      { type: 'sealExport', stage, digest: 'd', byteLength: 2, elementCount: 0 },
    ])
    const [user] = await source.usersAfter('', 1)
    expect(await source.beginMove({ id: 'm', other: 'target' })).toBe(true)
    expect(await source.fenceWrites('m', 60_000)).toBe(true)
    // Pruning that waited for this lock would wait for as long as the test runs.
    await hold(from, `select 1 from workspace_gateway.user where id = ${user?.id} for update`)
    const pruning = source.pruneExports({ userId: user?.id ?? 0, keep: 0, before: null, after: '' })
    await expect(pruning).rejects.toBeInstanceOf(StoreClosedError)
  })

  test('reads a very long change log, although that takes longer than a statement may last', async () => {
    const [from, to] = [await temporaryDatabase(), await temporaryDatabase()]
    const statementTimeoutMs = 500
    const source = await openStore(from, { ...STORE, statementTimeoutMs })
    onTestFinished(() => source[Symbol.asyncDispose]())
    await source.applyChanges([put()])
    // As long as millions of entries take, without the work.
    await execute(
      from,
      `create function linger() returns trigger language plpgsql as $$ begin
         perform pg_sleep(${(2 * statementTimeoutMs) / 1_000}); return null; end $$;
       create trigger linger before delete on workspace_gateway.move_change for each statement execute function linger()`,
    )
    const noted: MigratableStore = {
      ...source,
      async beginMove(move) {
        const isBegun = await source.beginMove(move)
        await execute(
          from,
          `insert into workspace_gateway.move_change
             select 'user', id::text from workspace_gateway.user, generate_series(1, 20000)`,
        )
        return isBegun
      },
    }
    expect(await moveOnline(noted, await open(to), ONLINE_MOVE)).toMatchObject({ usersAgain: 1 })
  })
})
