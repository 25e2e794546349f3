// Starts a real primary and a streaming standby of it.
import { setTimeout as delay } from 'node:timers/promises'
import { execute } from './execute.ts'
import { type PostgresBinaries, type PostgresServer, startPostgres } from './postgres-server.ts'

export interface ReplicatedServers extends AsyncDisposable {
  readonly primary: PostgresServer
  readonly standby: PostgresServer
  /** Resolves when the standby has replayed everything that is committed on the primary now. */
  readonly untilCaughtUp: () => Promise<void>
  /** Until replay resumes, the standby does not show later commits. */
  readonly pauseReplay: () => Promise<void>
  readonly resumeReplay: () => Promise<void>
}

export async function startReplicated(binaries: PostgresBinaries): Promise<ReplicatedServers> {
  await using stack = new AsyncDisposableStack()
  const primary = stack.use(await startPostgres(binaries))
  await primary.stop()
  const settings = { primary_conninfo: primary.url(''), wal_retrieve_retry_interval: '100ms' }
  const standby = stack.use(await startPostgres(binaries, { standbyOf: primary, settings }))
  await primary.start()
  const onPrimary = (sql: string) => execute(primary.url('postgres'), sql)
  const onStandby = (sql: string) => execute(standby.url('postgres'), sql)

  async function until(sql: string): Promise<void> {
    while ((await onStandby(`select (${sql})::text as done`))[0]?.done !== 'true') await delay(20)
  }

  const running = stack.move()
  return {
    primary,
    standby,
    async untilCaughtUp() {
      const [row] = await onPrimary('select pg_current_wal_lsn()::text as lsn')
      await until(`pg_last_wal_replay_lsn() >= '${row?.lsn}'`)
    },
    async pauseReplay() {
      await onStandby('select pg_wal_replay_pause()')
      await until(`pg_get_wal_replay_pause_state() = 'paused'`)
    },
    async resumeReplay() {
      await onStandby('select pg_wal_replay_resume()')
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}
