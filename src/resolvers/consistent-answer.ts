// An answer is of one state of a workspace: where its reads met two, because something was written between them, it is made
// again from a snapshot.
import { GatewayError } from '../errors.ts'
import { createConcurrencyLimit } from '../http/limits/concurrency-limit.ts'
import type { Reservation } from '../http/limits/in-flight-bytes.ts'
import type { Awaitable, LiveSession, Snapshot, Store, WorkspaceReads } from '../store/contract.ts'
import type { Context } from './context.ts'
import { createReads, type Reads } from './reads/reads.ts'

/** Of all users: each is a connection to the database beside those that requests share. */
export const MAX_SNAPSHOTS = 4
/** More of them are refused when the line is slow. */
const FREE_WAITING = 64
const EVERYBODY = 0
/** A try that fails sooner costs those who wait no time: each has its own. */
const SLOW_FAILURE_MS = 1_000

/**
 * Runs `answer` with reads that all see one state, which is no older than this call. Throws `UNAVAILABLE` when too many wait,
 * and what the snapshot of another threw that could not be opened meanwhile.
 */
export type FromSnapshot = <T>(answer: (reads: Reads) => Promise<T>) => Promise<T>

export function createFromSnapshot(
  openSnapshot: Store['openSnapshot'],
  shared: Reads,
  maxWaitMs: number,
): FromSnapshot {
  const limit = createConcurrencyLimit({ maxRunning: MAX_SNAPSHOTS, freeWaiting: FREE_WAITING, maxWaitMs })
  let openSnapshots = 0
  let slowFailures = 0
  let lastFailure: unknown

  /** A server that hangs takes the time to connect from each who tries: who waited while one did would try for as long again. */
  async function open(failuresBefore: number): Promise<Snapshot> {
    if (slowFailures > failuresBefore && openSnapshots === 0) throw lastFailure
    const startedAt = performance.now()
    try {
      return await openSnapshot({ isTimed: true })
    } catch (error) {
      if (performance.now() - startedAt >= SLOW_FAILURE_MS) {
        slowFailures += 1
        lastFailure = error
      }
      throw error
    }
  }

  return (answer) => {
    const failuresBefore = slowFailures
    return limit(EVERYBODY, async () => {
      await using snapshot = await open(failuresBefore)
      const reads = createReads(snapshot)
      let { elementRun } = reads
      openSnapshots += 1
      try {
        return await answer({ ...reads, elementRun: (question) => elementRun(question) })
      } finally {
        openSnapshots -= 1
        // An export never changes, and may still be read for the client when the snapshot is closed.
        elementRun = shared.elementRun
      }
    })
  }
}

/** Whether the user of a session is there now, and still has the email that the session was opened for. */
export type IsSameUser = (viewer: LiveSession) => Promise<boolean>

export function createIsSameUser({ usersById }: Pick<WorkspaceReads, 'usersById'>): IsSameUser {
  return async ({ userId, email }) => userId !== null && (await usersById([userId]))[0]?.email === email
}

interface AnsweringServices {
  readonly reads: Reads
  readonly isSameUser: IsSameUser
  readonly fromSnapshot: FromSnapshot
}

export interface ConsistentAnswer<T> {
  readonly value: T
  /** That it was made in. */
  readonly context: Context
}

/**
 * What `answer` answers, which is asked once more where it read two states. `holding` is what it holds, and nothing else.
 * Throws as it does, and `INVALID_TOKEN` when the user is gone, since what has nobody reads like an empty workspace, or was
 * renamed: the email and the global ids would be of the state before.
 */
export async function answerConsistently<S extends AnsweringServices, T>(
  services: S,
  openContext: (services: S) => Context,
  holding: Reservation,
  answer: (context: Context) => Awaitable<T>,
): Promise<ConsistentAnswer<T>> {
  const tryWith = (from: S) => attempt(openContext(from), answer)
  let tried = await tryWith(services)
  if (tried.context.states?.isTorn()) {
    holding.shrink(holding.byteLength())
    tried = await services.fromSnapshot((reads) => tryWith({ ...services, reads }))
  }
  const { context, outcome } = tried
  // Not before the snapshot is closed: its connection may be all that a pooler has. Also of a failure: who is gone has no project either.
  await assertSameUser(services, context)
  if (outcome.status === 'rejected') throw outcome.reason
  return outcome.value
}

/** For what has effects, and so is never asked twice. */
export async function answerOnce<T>(
  context: Context,
  answer: (context: Context) => Awaitable<T>,
): Promise<ConsistentAnswer<T>> {
  return { value: await answer(context), context }
}

interface Attempt<T> {
  readonly context: Context
  readonly outcome: PromiseSettledResult<ConsistentAnswer<T>>
}

async function attempt<T>(context: Context, answer: (context: Context) => Awaitable<T>): Promise<Attempt<T>> {
  const [outcome] = await Promise.allSettled([answerOnce(context, answer)])
  return { context, outcome }
}

async function assertSameUser({ isSameUser }: AnsweringServices, { viewer, states }: Context): Promise<void> {
  if (viewer && !states?.isExpected() && !(await isSameUser(viewer))) throw new GatewayError('INVALID_TOKEN')
}
