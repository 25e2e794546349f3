// Queues the requests to refuse under overload and refuses a few in each turn, in order.

/**
 * Each turn refuses one request per `BEGUN_PER_REFUSAL` places taken, or as many as it takes to refuse all of them
 * within `REFUSAL_MS`, whichever is more. A refusal costs half of a small answer, and a client that is refused at once
 * retries at once: without a bound the gateway would do little but refuse.
 */
const BEGUN_PER_REFUSAL = 8
const REFUSAL_MS = 2_000

export interface Refusals {
  readonly add: (refuse: () => void) => void
  /** Number of requests still to be refused. */
  readonly length: () => number
  /** Called at the end of a turn, with its duration and the number of places taken in it. */
  readonly refuseSome: (tookMs: number, begun: number) => void
}

export function createRefusals(): Refusals {
  /**
   * A set keeps insertion order and removes its first element cheaply. An array of thousands would move all other
   * elements.
   */
  const waiting = new Set<() => void>()
  /** The longest that the queue has been since it was last empty. */
  let most = 0
  return {
    add: (refuse) => waiting.add(refuse),
    length: () => waiting.size,
    refuseSome(tookMs, begun) {
      most = waiting.size === 0 ? 0 : Math.max(most, waiting.size)
      let left = Math.ceil(Math.max(begun / BEGUN_PER_REFUSAL, (most * tookMs) / REFUSAL_MS))
      for (const refuse of waiting) {
        if (left <= 0) break
        left -= 1
        waiting.delete(refuse)
        refuse()
      }
    },
  }
}
