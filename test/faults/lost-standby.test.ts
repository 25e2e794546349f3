// Tests gateways whose PostgreSQL waits for a synchronous standby that is away: reads go on, and no write is acknowledged.
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { readPostgresUrl } from '../../src/store/postgres/engine/connection-string.ts'
import { areCommitsStuck } from '../../src/store/postgres/engine/faults/write-gate.ts'
import { createPool } from '../../src/store/postgres/engine/pool.ts'
import { runHere, type Serving, serveForTest, serveHereForTest } from '../support/command-line.ts'
import { type Answer, ask, bearer, postJson } from '../support/gateway.ts'
import { HAS_PGBOUNCER, startPgbouncer } from '../support/pgbouncer.ts'
import { execute, POSTGRES_DIRECTORY, temporaryServer } from '../support/postgres.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

const POOL_SIZE = 4
/** A write that is not confirmed holds its connection for longer than a read waits for one. */
const OPTIONS = ['--connect-timeout', '2000', '--statement-timeout', '2500', '--pool-size', String(POOL_SIZE)]
/** More clients of each gateway than it has connections. */
const WRITERS = 3 * POOL_SIZE
const READERS = 2
/** The pause of a client between an answer and its next request. */
const PAUSE_MS = 25

const login = ({ url }: Serving): Promise<Answer> => postJson(`${url}/login`, { email: ANA })
const projects = ({ url }: Serving, accessToken: string): Promise<Answer> =>
  ask(`${url}/projects`, { headers: bearer(accessToken) })

/** Starts a primary that confirms no commit without its only standby. */
async function startSynchronous() {
  const primary = await temporaryServer()
  await primary.stop()
  const standby = await temporaryServer({
    standbyOf: primary,
    settings: {
      primary_conninfo: `${primary.url('postgres')}?application_name=s1`,
      wal_retrieve_retry_interval: '100ms',
    },
  })
  // A frozen server does not end.
  onTestFinished(() => standby.thaw())
  await primary.start()
  const url = primary.url('postgres')
  await execute(url, `alter system set synchronous_standby_names = 's1'`)
  await execute(url, 'select pg_reload_conf()')
  await expect.poll(() => execute(url, 'select sync_state from pg_stat_replication')).toEqual([{ sync_state: 'sync' }])
  return { primary, standby, url }
}

const unconfirmed = async (url: string) =>
  (await execute(url, `select 1 from pg_stat_activity where wait_event = 'SyncRep'`)).length

async function hasStuckCommits(url: string, milliseconds: number): Promise<boolean> {
  await using pool = createPool(readPostgresUrl(url), {
    connectTimeoutMs: 30_000,
    statementTimeoutMs: 30_000,
    poolSize: 1,
  })
  return pool.once((connection) => areCommitsStuck(connection, milliseconds))
}

describe.skipIf(POSTGRES_DIRECTORY === null)('gateways whose synchronous standby is away', () => {
  test('answer all reads, refuse writes with 503, and write again once it is back', async () => {
    const { primary, standby, url } = await startSynchronous()
    await runHere(['import', '-', '--database', url], { stdin: SMALL_WORLD })
    const hosts = `${primary.host}:${primary.port},${standby.host}:${standby.port}`
    const both = `${url.replace(`${primary.host}:${primary.port}`, hosts)}?target_session_attrs=read-write`
    const gateways: Serving[] = [await serveForTest(['--database', both, '--workers', '2', ...OPTIONS])]
    let processes = 2
    if (HAS_PGBOUNCER) {
      const pooler = await startPgbouncer(url, { connections: 2 * POOL_SIZE })
      onTestFinished(() => pooler[Symbol.asyncDispose]())
      gateways.push(await serveHereForTest(['--database', pooler.through(url), ...OPTIONS]))
      processes += 1
    }
    const acknowledged: string[] = []
    for (const gateway of gateways) acknowledged.push((await login(gateway)).json().accessToken)
    const [token = ''] = acknowledged
    let isOver = false
    let refused = 0

    async function write(gateway: Serving): Promise<void> {
      while (!isOver) {
        const answer = await login(gateway)
        expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
        refused += 1
        await delay(PAUSE_MS)
      }
    }

    async function read(gateway: Serving): Promise<void> {
      while (!isOver) {
        const answers = [await projects(gateway, token), await ask(`${gateway.url}/readyz`)]
        expect(answers.map(({ status }) => status)).toEqual([200, 200])
        await delay(PAUSE_MS)
      }
    }

    async function untilAllRefuse(): Promise<void> {
      const isSaid = ({ stderr }: Serving) => stderr().includes('its synchronous standby does not answer')
      while (!isOver && !gateways.every(isSaid)) await delay(PAUSE_MS)
      const before = refused
      while (!isOver && refused < before + 10 * WRITERS) await delay(PAUSE_MS)
    }

    await standby.freeze()
    const clients = gateways.flatMap((gateway) => [
      ...Array.from({ length: WRITERS }, () => write(gateway)),
      ...Array.from({ length: READERS }, () => read(gateway)),
    ])
    try {
      await Promise.race([untilAllRefuse(), Promise.all(clients)])
    } finally {
      isOver = true
    }
    await Promise.all(clients)
    // Each process may have written on half of its connections.
    const left = await unconfirmed(url)
    expect(left).toBeLessThanOrEqual((processes * POOL_SIZE) / 2)
    // Only commits to the same database that have waited for longer than that count.
    expect(await hasStuckCommits(url, 0)).toBe(true)
    expect(await hasStuckCommits(url, 3_600_000)).toBe(false)
    expect(await hasStuckCommits(primary.url('template1'), 0)).toBe(false)
    // A gateway that starts meanwhile reads, and does not try to write.
    const late = await serveHereForTest(['--database', url, ...OPTIONS])
    expect([(await projects(late, token)).status, (await login(late)).status]).toEqual([200, 503])
    expect(await unconfirmed(url)).toBe(left)

    await standby.thaw()
    for (const gateway of [...gateways, late]) {
      const loginUntilDone = async () => {
        const answer = await login(gateway)
        if (answer.status === 200) acknowledged.push(answer.json().accessToken)
        return answer.status
      }
      await expect.poll(loginUntilDone).toBe(200)
    }
    await primary.crash()
    await standby.promote()
    const [gateway] = gateways
    for (const accessToken of acknowledged) {
      const status = async () => gateway && (await projects(gateway, accessToken)).status
      await expect.poll(status).toBe(200)
    }
  })
})
