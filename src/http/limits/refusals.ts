// Requests that are to be refused under overload, in order, a few in each turn.

/**
 * How many are refused in a turn: one for every `BEGUN_PER_REFUSAL` places that are taken, or as many as have all that are to be refused gone
 * within `REFUSAL_MS`, whichever is more. A refusal costs half of a small answer, and a client that is refused at once retries at once:
 * without a bound the gateway would do little but refuse.
 */
const BEGUN_PER_REFUSAL = 8
const REFUSAL_MS = 2_000

export interface Refusals {
  readonly add: (refuse: () => void) => void
  /** How many are still to be refused. */
  readonly length: () => number
  /** At the end of a turn that took so long and in which so many places were taken. */
  readonly refuseSome: (tookMs: number, begun: number) => void
}

export function createRefusals(): Refusals {
  /** A set keeps the order, and gives up its first at little cost: an array of thousands would move all others. */
  const waiting = new Set<() => void>()
  /** Since there was nothing to refuse. */
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
