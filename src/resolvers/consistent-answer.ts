// An answer is of one state of a workspace: where its reads met two, because something was written between them, it is made
// again from a snapshot.
import { GatewayError } from '../errors.ts'
import { createConcurrencyLimit } from '../http/limits/concurrency-limit.ts'
import type { Reservation } from '../http/limits/in-flight-bytes.ts'
import type { Awaitable, Snapshot } from '../store/contract.ts'
import type { Context } from './context.ts'
import { createReads, type Reads } from './reads/reads.ts'

/** Of all users: each is a connection to the database beside those that requests share. */
const MAX_SNAPSHOTS = 4
/** More of them are refused when the line is slow. */
const FREE_WAITING = 64
const EVERYBODY = 0

/** Runs `answer` with reads that all see one state, which is no older than this call. Throws `UNAVAILABLE` when too many wait. */
export type FromSnapshot = <T>(answer: (reads: Reads) => Promise<T>) => Promise<T>

export function createFromSnapshot(
  openSnapshot: () => Awaitable<Snapshot>,
  shared: Reads,
  maxWaitMs: number,
): FromSnapshot {
  const limit = createConcurrencyLimit({ maxRunning: MAX_SNAPSHOTS, freeWaiting: FREE_WAITING, maxWaitMs })
  return (answer) =>
    limit(EVERYBODY, async () => {
      await using snapshot = await openSnapshot()
      // An export never changes, and may still be read for the client when the snapshot is closed.
      return await answer({ ...createReads(snapshot), elementRun: shared.elementRun })
    })
}

interface AnsweringServices {
  readonly reads: Reads
  readonly fromSnapshot: FromSnapshot
}

export interface ConsistentAnswer<T> {
  readonly value: T
  /** That it was made in. */
  readonly context: Context
}

/**
 * What `answer` answers, which is asked once more where it read two states. `holding` is what it holds, and nothing else.
 * Throws `INVALID_TOKEN` when the user is gone: what has nobody reads like an empty workspace.
 */
export async function answerConsistently<S extends AnsweringServices, T>(
  services: S,
  openContext: (services: S) => Context,
  holding: Reservation,
  answer: (context: Context) => Awaitable<T>,
): Promise<ConsistentAnswer<T>> {
  const first = await answerOnce(openContext(services), answer)
  if (!first.context.states?.isTorn()) return ofUser(first)
  holding.shrink(holding.byteLength())
  return ofUser(await services.fromSnapshot((reads) => answerOnce(openContext({ ...services, reads }), answer)))
}

function ofUser<T>(answered: ConsistentAnswer<T>): ConsistentAnswer<T> {
  if (answered.context.states?.isUserGone()) throw new GatewayError('INVALID_TOKEN')
  return answered
}

export async function answerOnce<T>(
  context: Context,
  answer: (context: Context) => Awaitable<T>,
): Promise<ConsistentAnswer<T>> {
  return { value: await answer(context), context }
}
