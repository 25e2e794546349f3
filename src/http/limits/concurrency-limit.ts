// So many at a time for each owner: more of one owner wait in line, and nobody else waits for them.
import { GatewayError } from '../../errors.ts'

export interface ConcurrencyLimitOptions {
  readonly maxRunning: number
  /** So many may wait in a line, however slowly it moves: a client's pool of connections is not too much. */
  readonly freeWaiting: number
  /** Milliseconds that the first of a longer line may have waited: past that, new requests are refused. */
  readonly maxWaitMs: number
}

/** Runs `work` when it is its turn. Answers, or fails, as it does. Throws `UNAVAILABLE` at once when the line is too slow. */
export type LimitConcurrency = <T>(owner: number, work: () => Promise<T>) => Promise<T>

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

  function join({ waiting }: Line): Promise<void> {
    const since = performance.now()
    const first = waiting[0]
    if (first && waiting.length >= freeWaiting && since - first.since > maxWaitMs)
      throw new GatewayError('UNAVAILABLE', { retryAfterSeconds: 1 })
    return new Promise((start) => waiting.push({ since, start }))
  }

  function leave(owner: number, line: Line): void {
    const next = line.waiting.shift()
    // The next one takes the place: it is never free in between.
    if (next) next.start()
    else line.running -= 1
    if (line.running === 0) lines.delete(owner)
  }

  return async (owner, work) => {
    const line = lineOf(owner)
    if (line.running < maxRunning) line.running += 1
    else await join(line)
    try {
      return await work()
    } finally {
      leave(owner, line)
    }
  }
}
