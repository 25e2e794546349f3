// Reads of which nobody knows how long they are before they are there: a request has a few of them under way.
import type { Pace } from '../../http/limits/turn-quota.ts'
import { RequestAborted } from '../request-budget.ts'

/** What they read may be as long as one line of an import each, and is in memory before the budget of the request sees it. */
const AT_A_TIME = 4

/** `byteLength` is what is expected of the read. */
export type FewAtATime = <T>(byteLength: number, read: () => Promise<T>) => Promise<T>

/** Each is begun at once where few are under way; the others in order, each in a turn that has room for it. After one that the budget refused no other begins. */
export function createFewAtATime(paceReading: Pace): FewAtATime {
  const waiting: (() => void)[] = []
  let underWay = 0
  let refused: RequestAborted | null = null

  async function wait(byteLength: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    waiting.push(resolve)
    await promise
    if (!refused) await paceReading(byteLength)
    // Another may have been refused while this one waited.
    if (refused) throw refused
  }

  return async (byteLength, read) => {
    underWay += 1
    try {
      if (underWay > AT_A_TIME) await wait(byteLength)
      return await read()
    } catch (error) {
      if (error instanceof RequestAborted) refused = error
      throw error
    } finally {
      underWay -= 1
      waiting.shift()?.()
    }
  }
}
