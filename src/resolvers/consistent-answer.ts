// Makes every response from one state of a workspace: if its reads saw two states, because of a write in between, it is
// made again from a snapshot.
import { GatewayError } from '../errors.ts'
import { createConcurrencyLimit } from '../http/limits/concurrency-limit.ts'
import type { Reservation } from '../http/limits/in-flight-bytes.ts'
import type { Awaitable, LiveSession, Snapshot, Store, WorkspaceReads } from '../store/contract.ts'
import type { Context } from './context.ts'
import { createReads, type Reads } from './reads/reads.ts'

/**
 * Maximum number of open snapshots, for all users together. Each takes a database connection besides the shared ones.
 */
export const MAX_SNAPSHOTS = 4
/** Requests that may always wait for a snapshot. More than these are refused if the queue is slow. */
const FREE_WAITING = 64
const EVERYBODY = 0
/** An attempt that fails faster than this costs the waiting requests little, so each of them makes its own attempt. */
const SLOW_FAILURE_MS = 1_000

/**
 * Runs `answer` with reads that all see one state, which is no older than this call. Throws `UNAVAILABLE` if too many
 * requests wait, and the error of another request if that failed slowly to open a snapshot while this one waited.
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

  /**
   * When a server hangs, each attempt lasts until the connect timeout. A request that waited through one attempt must
   * not make another.
   */
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
        // A response may still stream an export after the snapshot is closed. Exports never change, so the shared reads
        // serve it.
        elementRun = shared.elementRun
      }
    })
  }
}

/** Whether the user of a session still exists and still has the email that the session was opened for. */
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
  /** The context in which `value` was made. */
  readonly context: Context
}

/**
 * Runs `answer`, and runs it again from a snapshot if it read two states. `holding` must be the reservation of `answer`
 * alone, because it is emptied before the second run. Throws what `answer` throws, and `INVALID_TOKEN` if the user was
 * removed, because a removed user reads like an empty workspace, or renamed, because the email and the global ids would
 * be those of the old state.
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
  // Runs after the snapshot is closed, whose connection may be the only one that a pooler has. It also runs after a
  // failure: for a removed user, NO_PROJECT would be the wrong error.
  await assertSameUser(services, context)
  if (outcome.status === 'rejected') throw outcome.reason
  return outcome.value
}

/** Runs `answer` exactly once, for operations with side effects. */
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
