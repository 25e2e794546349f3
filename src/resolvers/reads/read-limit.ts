// Limits how many reads of unknown length one request has in flight.
import type { Pace } from '../../http/limits/turn-quota.ts'
import { RequestAborted } from '../request-budget.ts'

/**
 * Reads in flight. Each may return as much as one line of an import, which is in memory before the budget counts it.
 */
const MAX_IN_FLIGHT = 4

/** `byteLength` is the expected length of the result. */
export type LimitReads = <T>(byteLength: number, read: () => Promise<T>) => Promise<T>

/**
 * Starts a read at once while fewer than `MAX_IN_FLIGHT` are in flight. Later reads wait in order, each for a turn with
 * room for it. Once the budget has refused the result of one read, the waiting ones fail with the same error.
 */
export function createReadLimit(paceReading: Pace): LimitReads {
  const waiting: (() => void)[] = []
  let unfinished = 0
  let refused: RequestAborted | null = null

  async function wait(byteLength: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    waiting.push(resolve)
    await promise
    if (!refused) await paceReading(byteLength)
    // The budget may have refused another read while this one waited.
    if (refused) throw refused
  }

  return async (byteLength, read) => {
    unfinished += 1
    try {
      if (unfinished > MAX_IN_FLIGHT) await wait(byteLength)
      return await read()
    } catch (error) {
      if (error instanceof RequestAborted) refused = error
      throw error
    } finally {
      unfinished -= 1
      waiting.shift()?.()
    }
  }
}
