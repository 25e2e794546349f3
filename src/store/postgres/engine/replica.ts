// Reads from a replica while it answers in time, and backs off when it does not.
import type { OfUser } from '../../contract.ts'
import type { PoolStatistics, ReplicaStatistics } from '../../statistics-contract.ts'
import { statements } from '../connection.ts'
import type { Answering } from '../reads.ts'
import type { PostgresTarget } from './connection-string.ts'
import { createPool, type PoolOptions } from './pool.ts'
import { type Answer, askAll, type ReadVerb, requireNext } from './read-verb.ts'
import { coalesce } from './statement-batcher.ts'

export interface ReplicaOptions {
  /** URL of the replica. `target_session_attrs=standby` accepts only a standby; otherwise any host is accepted. */
  readonly url: string
  /** How long a read waits for the replica, in milliseconds, before it falls back to the primary. */
  readonly timeoutMs: number
  /** Called whenever the replica becomes healthy or unhealthy; then with the reason. */
  readonly onChange: (isHealthy: boolean, reason: unknown) => void
}

export interface Replica extends AsyncDisposable {
  /** Answers from the replica when it is in exactly the state that a question names, and from the primary otherwise. */
  readonly preferredTo: (primary: Answering) => Answering
  readonly statistics: () => Promise<ReplicaStatistics & { readonly pool: PoolStatistics }>
}

const SQL = statements({
  ping: 'select 1 from workspace_gateway.user limit 1',
  // When everything received is replayed, the time of the last transaction only shows when the primary last wrote. But
  // without a receiver, nobody knows what the primary has written since then. It may be none since the standby started.
  replicaLag: `select case when not pg_is_in_recovery() then 0
    when pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() and exists(select from pg_stat_wal_receiver) then 0
    else extract(epoch from clock_timestamp() - coalesce(pg_last_xact_replay_timestamp(), pg_postmaster_start_time()))
    end::float8 as "lagSeconds"`,
})

/** Backoff before the replica is tried again. It doubles until the replica has answered a read. */
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 15_000

/** Connects in the background: a replica that is down does not delay the start. */
export function openReplica(
  target: PostgresTarget,
  { timeoutMs, onChange }: ReplicaOptions,
  poolOptions: Omit<PoolOptions, 'statementTimeoutMs'>,
): Replica {
  const pool = createPool(target, { ...poolOptions, statementTimeoutMs: timeoutMs })
  /** Null until the first attempt has ended. */
  let isHealthy: boolean | null = null
  let pauseMs = FIRST_PAUSE_MS
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  async function probe(): Promise<void> {
    try {
      await pool.once((connection) => connection.query(SQL.ping))
      change(true, null)
    } catch (error) {
      openCircuit(error)
    }
  }

  /** Opens the circuit for any failure: falling back to the primary is always correct. */
  function openCircuit(reason: unknown): void {
    // A failure during shutdown says nothing about the replica.
    if (isClosed) return
    timer = setTimeout(probe, pauseMs).unref()
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
    change(false, reason)
  }

  function change(isUsedNow: boolean, reason: unknown): void {
    if (isHealthy === isUsedNow) return
    isHealthy = isUsedNow
    onChange(isUsedNow, reason)
  }

  /** The answer of the replica; null when it fails or times out. */
  async function inTime<T>(answering: Promise<T>): Promise<T | null> {
    const late = Promise.withResolvers<never>()
    const patience = setTimeout(() => late.reject(new Error('the replica did not answer in time')), timeoutMs)
    try {
      const answer = await Promise.race([answering, late.promise])
      pauseMs = FIRST_PAUSE_MS
      return answer
    } catch (error) {
      if (isHealthy) openCircuit(error)
      return null
    } finally {
      clearTimeout(patience)
    }
  }

  /** Answers null for a question that names no state version, or another one than the replica has. */
  function asking<K extends OfUser, V>(verb: ReadVerb<K, V>) {
    return async (questions: readonly K[]): Promise<readonly (Answer<V> | null)[]> => {
      // The circuit may have opened while these questions were queued.
      if (!isHealthy) throw new Error('the replica is not used')
      const answers = await pool.repeatable((connection) => askAll(connection, verb, questions, false))
      return answers.map((answer, index) => {
        const expected = questions[index]?.expected
        return expected && answer.stateVersion === expected.stateVersion ? answer : null
      })
    }
  }

  async function lagSeconds(): Promise<number | null> {
    if (!isHealthy) return null
    const rows = await inTime(pool.once((connection) => connection.query(SQL.replicaLag)))
    const lag = rows?.[0]?.lagSeconds
    // The driver returns it as text.
    return lag == null ? null : Number(lag)
  }

  void probe()
  return {
    preferredTo: (primary) => (verb) => {
      const askReplica = coalesce(asking(verb), pool)
      const askPrimary = primary(verb)
      return async (questions) => {
        const isAsked = isHealthy === true && questions.some(({ expected }) => expected)
        const found = isAsked ? await inTime(askReplica(questions)) : null
        if (found === null) return askPrimary(questions)
        const others = questions.filter((_, index) => !found[index])
        const newer = (others.length === 0 ? [] : await askPrimary(others)).values()
        return questions.map(({ expected }, index) => {
          const answer = found[index]
          if (!answer) return requireNext(newer)
          expected?.onRead(answer.stateVersion)
          return answer.value
        })
      }
    },
    async statistics() {
      const lag = await lagSeconds()
      return { isUsed: isHealthy === true, lagSeconds: lag, pool: { name: 'replica', ...pool.counts() } }
    },
    async [Symbol.asyncDispose]() {
      isClosed = true
      clearTimeout(timer)
      await pool[Symbol.asyncDispose]()
    },
  }
}
