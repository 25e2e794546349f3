// Group commit: commits the writes of one turn of the event loop together, with one fsync, and acknowledges them after
// it. A batch of writes that may be lost needs no fsync.
import type { Database } from 'better-sqlite3'
import type { FaultLatch } from './faults/fault-latch.ts'
import { isBusy } from './faults/sqlite-errors.ts'

/** Interval of retries while another process holds the lock. */
const LOCK_RETRY_MS = 1

export interface GroupCommitOptions {
  /** Called before a commit is acknowledged, because every later read must show it. */
  readonly onCommitted: () => void
  /** How long a write waits for locks of other processes before it is refused as unavailable. */
  readonly lockTimeoutMs: number
  readonly faults: FaultLatch
  /**
   * Called before a commit and before its acknowledgement. Throws if the database is no longer where the next start
   * will look for it.
   */
  readonly assertInPlace: () => void
}

export interface GroupCommit {
  /** Runs `write` in the next transaction, and resolves with its result once that is durable. */
  readonly write: <T>(write: () => T) => Promise<T>
  /** Like `write`, but for writes that leave every cached read valid: `onWrite` listeners are not called. */
  readonly add: <T>(write: () => T) => Promise<T>
  /** Like `add`, but without waiting for the disk: a power failure may lose the last of these writes, nothing else. */
  readonly addUnsynced: <T>(write: () => T) => Promise<T>
  /** Calls `listener` for every `write`, within its transaction and before it commits. */
  readonly onWrite: (listener: () => void) => void
  /** Resolves when every write queued so far has been committed or refused. */
  readonly settled: () => Promise<void>
}

interface Job {
  readonly isSynced: boolean
  readonly run: () => void
  readonly acknowledge: () => void
  readonly refuse: (error: unknown) => void
}

export function createGroupCommit(database: Database, options: GroupCommitOptions): GroupCommit {
  const { faults } = options
  const begin = database.prepare('begin immediate')
  const commit = database.prepare('commit')
  const rollback = database.prepare('rollback')
  const savepoint = database.prepare('savepoint job')
  const release = database.prepare('release job')
  const rollbackToSavepoint = database.prepare('rollback to job')
  const listeners: (() => void)[] = []
  let queue: Job[] = []
  let waitingSince: number | null = null
  let idle: PromiseWithResolvers<void> | null = null

  function flush(): void {
    const isSynced = queue.some((job) => job.isSynced)
    // In WAL mode the next commit with `FULL`, or a checkpoint, syncs a commit with `NORMAL`. The order is kept.
    if (!isSynced) database.pragma('synchronous = NORMAL')
    commitQueue()
    if (!isSynced && !database.inTransaction) database.pragma('synchronous = FULL')
  }

  function commitQueue(): void {
    try {
      faults.assertWritable()
      // Check before writing: a truncated log looks intact again once something is written after the hole.
      faults.assertInPlace(options.assertInPlace)
      begin.run()
    } catch (error) {
      retryOrRefuse(error)
      return
    }
    waitingSince = null
    const jobs = takeQueue()
    let done: readonly Job[]
    try {
      done = runAll(jobs)
      commit.run()
    } catch (error) {
      rollBack()
      refuseAll(jobs, error)
      return
    }
    try {
      faults.assertInPlace(options.assertInPlace)
    } catch (error) {
      refuseAll(done, error)
      return
    }
    options.onCommitted()
    for (const job of done) job.acknowledge()
  }

  function rollBack(): void {
    try {
      if (database.inTransaction) rollback.run()
    } catch (error) {
      faults.toStoreError(error)
    }
  }

  /** Returns the jobs that were not refused. */
  function runAll(jobs: readonly Job[]): readonly Job[] {
    const [only] = jobs
    if (!only || jobs.length > 1) return jobs.filter(runJob)
    // No savepoint: it would copy every page that is about to change. A failure rolls back the whole transaction.
    only.run()
    return jobs
  }

  /** Runs a job in a savepoint, so that a failure rolls back only its own writes. */
  function runJob(job: Job): boolean {
    savepoint.run()
    try {
      job.run()
      release.run()
      return true
    } catch (error) {
      if (database.inTransaction) {
        rollbackToSavepoint.run()
        release.run()
      }
      job.refuse(faults.toStoreError(error))
      if (!database.inTransaction) throw error
      return false
    }
  }

  function retryOrRefuse(error: unknown): void {
    waitingSince ??= performance.now()
    if (isBusy(error) && performance.now() - waitingSince < options.lockTimeoutMs) {
      setTimeout(flush, LOCK_RETRY_MS)
      return
    }
    waitingSince = null
    refuseAll(takeQueue(), error)
  }

  /** Rejects the jobs. A job that was settled already stays as it is. */
  function refuseAll(jobs: readonly Job[], error: unknown): void {
    const refusal = faults.toStoreError(error)
    for (const job of jobs) job.refuse(refusal)
  }

  function takeQueue(): readonly Job[] {
    const jobs = queue
    queue = []
    idle?.resolve()
    idle = null
    return jobs
  }

  function enqueue<T>(write: () => T, { isSynced = true } = {}): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    let answer: { readonly value: T } | null = null
    queue.push({
      isSynced,
      run: () => {
        answer = { value: write() }
      },
      acknowledge: () => {
        if (answer) resolve(answer.value)
      },
      refuse: reject,
    })
    if (idle === null) {
      idle = Promise.withResolvers<void>()
      setImmediate(flush)
    }
    return promise
  }

  return {
    write: (write) =>
      enqueue(() => {
        for (const listener of listeners) listener()
        return write()
      }),
    add: (write) => enqueue(write),
    addUnsynced: (write) => enqueue(write, { isSynced: false }),
    onWrite(listener) {
      listeners.push(listener)
    },
    settled: () => idle?.promise ?? Promise.resolve(),
  }
}
