// Limits how many tasks of one owner run at a time: more tasks of that owner queue, and other owners do not wait for
// them.
import { CLIENT_LEFT, GatewayError } from '../../errors.ts'
import type { OnLeave } from './admission.ts'

export interface ConcurrencyLimitOptions {
  readonly maxRunning: number
  /** This many tasks may wait, however slowly the queue moves, so that a client's connection pool is not refused. */
  readonly freeWaiting: number
  /** In a longer queue, new tasks are refused once the first one has waited longer than this. */
  readonly maxWaitMs: number
}

/**
 * Runs `work` when it is its turn and settles as `work` does. Throws `UNAVAILABLE` at once when the queue is too slow.
 * With `onLeave`, work that waits gives up its place when the client leaves, and throws `CLIENT_LEFT`.
 */
export type LimitConcurrency = <T>(owner: number, work: () => Promise<T>, onLeave?: OnLeave) => Promise<T>

interface Waiting {
  readonly since: number
  readonly start: () => void
}

interface Line {
  running: number
  readonly waiting: Waiting[]
}

export function createConcurrencyLimit(options: ConcurrencyLimitOptions): LimitConcurrency {
  const { maxRunning, freeWaiting, maxWaitMs } = options
  const lines = new Map<number, Line>()

  function lineOf(owner: number): Line {
    const known = lines.get(owner)
    if (known) return known
    const line = { running: 0, waiting: [] }
    lines.set(owner, line)
    return line
  }

  function join({ waiting }: Line, onLeave?: OnLeave): Promise<void> {
    const since = performance.now()
    const first = waiting[0]
    if (first && waiting.length >= freeWaiting && since - first.since > maxWaitMs)
      throw new GatewayError('UNAVAILABLE', { retryAfterSeconds: 1 })
    return new Promise((start, reject) => {
      const own = { since, start }
      waiting.push(own)
      onLeave?.(() => {
        const at = waiting.indexOf(own)
        if (at === -1) return
        waiting.splice(at, 1)
        reject(CLIENT_LEFT)
      })
    })
  }

  function leave(owner: number, line: Line): void {
    const next = line.waiting.shift()
    // The next task takes over the place, so `running` stays the same.
    if (next) next.start()
    else line.running -= 1
    if (line.running === 0) lines.delete(owner)
  }

  return async (owner, work, onLeave) => {
    const line = lineOf(owner)
    if (line.running < maxRunning) line.running += 1
    else await join(line, onLeave)
    try {
      return await work()
    } finally {
      leave(owner, line)
    }
  }
}
