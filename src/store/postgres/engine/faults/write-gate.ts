// Bounds writes apart from reads. While commits wait for a synchronous standby that is away, it refuses further writes,
// because nothing ends such a wait: each would take another connection of the server.
import { StoreUnavailableError } from '../../../contract.ts'
import type { Connection, Statement } from '../../connection.ts'
import { ConnectionLostError, isRightMissing } from './pg-errors.ts'
import { createWaitingLine } from './waiting-line.ts'

export interface WriteGate {
  /** Runs a write as soon as fewer than the maximum are running. */
  readonly pass: <T>(write: () => Promise<T>) => Promise<T>
  /** How many writes wait for others to end. */
  readonly waiting: () => number
}

export interface WriteGateOptions {
  readonly maxWrites: number
  /**
   * Maximum wait for other writes, in milliseconds. After one write has waited for so long, new ones that would have to
   * wait are rejected at once until a write ends.
   */
  readonly patienceMs: number
  /** Whether the server keeps commits waiting for longer than gateways do. */
  readonly areCommitsStuck: () => Promise<boolean>
}

const TOO_LATE = 'the writes before this one did not end in time'
const STANDBY_AWAY = 'the database cannot confirm writes now: its synchronous standby does not answer'

/** Of backends with another role, the server does not tell for what they wait. */
const STUCK_COMMIT: Statement = {
  name: 'stuckCommit',
  text: `select 1 from pg_stat_activity where datname = current_database() and wait_event = 'SyncRep'
    and query_start < clock_timestamp() - $1::float8 * interval '1 millisecond' limit 1`,
}

export async function areCommitsStuck(connection: Connection, milliseconds: number): Promise<boolean> {
  try {
    return (await connection.query(STUCK_COMMIT, [milliseconds])).length > 0
  } catch (error) {
    // A role from which this view was taken cannot check. Its writes reveal the fault, one statement timeout each.
    if (isRightMissing(error)) return false
    throw error
  }
}

export function createWriteGate({ maxWrites, patienceMs, areCommitsStuck: ask }: WriteGateOptions): WriteGate {
  let running = 0
  const line = createWaitingLine<void>(patienceMs, TOO_LATE)
  /** Also at first: the previous process may have ended because writes failed, and left its share of waiting commits. */
  let isSuspected = true
  let checking: Promise<void> | null = null

  async function enter(): Promise<void> {
    if (running < maxWrites) running += 1
    else await line.join()
  }

  /** The next waiter takes the place over. */
  function leave(): void {
    if (!line.serve()) running -= 1
  }

  async function check(): Promise<void> {
    // A write that fails meanwhile makes the next one check again.
    isSuspected = false
    try {
      if (await ask()) throw new StoreUnavailableError(STANDBY_AWAY)
    } catch (error) {
      isSuspected = true
      throw error
    }
  }

  /** Writes that come while the server is asked share the answer. */
  async function assertConfirmed(): Promise<void> {
    if (!isSuspected && checking === null) return
    checking ??= check().finally(() => {
      checking = null
    })
    await checking
  }

  return {
    async pass(write) {
      await enter()
      try {
        await assertConfirmed()
        return await write()
      } catch (error) {
        if (error instanceof ConnectionLostError) isSuspected = true
        throw error
      } finally {
        leave()
      }
    },
    waiting: line.length,
  }
}
