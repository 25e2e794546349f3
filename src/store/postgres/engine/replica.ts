// A server that is only read from: asked as long as it answers in time, left alone for a while when it does not.
import type { OfUser } from '../../contract.ts'
import type { PoolStatistics, ReplicaStatistics } from '../../statistics-contract.ts'
import type { Statement } from '../connection.ts'
import type { Answering } from '../reads.ts'
import type { PostgresTarget } from './connection-string.ts'
import { createPool, type PoolOptions } from './pool.ts'
import { type Answer, askAll, type ReadVerb, requireNext } from './read-verb.ts'
import { coalesce } from './statement-batcher.ts'

export interface ReplicaOptions {
  /** Any host in it will do, or only a standby (`target_session_attrs=standby`). */
  readonly url: string
  /** How long a read waits for it before the primary is asked. */
  readonly timeoutMs: number
  /** It answers, or it does not: then with the reason. Told at every change. */
  readonly onChange: (isHealthy: boolean, reason: unknown) => void
}

export interface Replica extends AsyncDisposable {
  /** What the replica answers from the very state that a question names; the primary answers the rest. */
  readonly preferredTo: (primary: Answering) => Answering
  readonly statistics: () => Promise<ReplicaStatistics & { readonly pool: PoolStatistics }>
}

const PING: Statement = { name: 'ping', text: 'select 1 from workspace_gateway.user limit 1' }

// Where all is replayed that was received, the time of the last transaction only says that nothing was written since.
const LAG: Statement = {
  name: 'replicaLag',
  text: `select case when not pg_is_in_recovery() or pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() then 0
    else extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp()) end::float8 as "lagSeconds"`,
}

/** Before it is tried again; twice as long each time, until it has answered a read. */
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 15_000

/** Connects in the background: a replica that is down keeps nobody from starting. */
export function openReplica(
  target: PostgresTarget,
  { timeoutMs, onChange }: ReplicaOptions,
  poolOptions: Omit<PoolOptions, 'statementTimeoutMs'>,
): Replica {
  const pool = createPool(target, { ...poolOptions, statementTimeoutMs: timeoutMs })
  /** Null until the first try has ended. */
  let isHealthy: boolean | null = null
  let pauseMs = FIRST_PAUSE_MS
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  async function probe(): Promise<void> {
    try {
      await pool.once((connection) => connection.query(PING))
      change(true, null)
    } catch (error) {
      openCircuit(error)
    }
  }

  /** Whatever went wrong: that the primary answers is right in any case. */
  function openCircuit(reason: unknown): void {
    // What fails because it is being closed says nothing of the replica.
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

  /** What it answers, null when it fails or takes too long. */
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

  /** Null for a question that names no state, or another than the replica is in. */
  function asking<K extends OfUser, V>(verb: ReadVerb<K, V>) {
    return async (questions: readonly K[]): Promise<readonly (Answer<V> | null)[]> => {
      // Left alone while these were waiting.
      if (!isHealthy) throw new Error('the replica is not used')
      const answers = await pool.repeatable((connection) => askAll(connection, verb, questions, false))
      return answers.map((answer, index) => {
        const seen = questions[index]?.seen
        return seen && answer.stateVersion === seen.stateVersion ? answer : null
      })
    }
  }

  async function lagSeconds(): Promise<number | null> {
    if (!isHealthy) return null
    const rows = await inTime(pool.once((connection) => connection.query(LAG)))
    const lag = rows?.[0]?.lagSeconds
    // It comes as text.
    return lag == null ? null : Number(lag)
  }

  void probe()
  return {
    preferredTo: (primary) => (verb) => {
      const askReplica = coalesce(asking(verb), pool)
      const askPrimary = primary(verb)
      return async (questions) => {
        const isAsked = isHealthy === true && questions.some(({ seen }) => seen)
        const found = isAsked ? await inTime(askReplica(questions)) : null
        if (found === null) return askPrimary(questions)
        const others = questions.filter((_, index) => !found[index])
        const newer = (others.length === 0 ? [] : await askPrimary(others)).values()
        return questions.map(({ seen }, index) => {
          const answer = found[index]
          if (!answer) return requireNext(newer)
          seen?.onRead(answer.stateVersion)
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
