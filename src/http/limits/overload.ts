// Whether more comes than can be answered, and how many may wait meanwhile.

/** A line that is too slow for less than this is a burst: it is answered, however late. */
const PATIENCE_MS = 250
/** Refusing has ended when nothing was refused for so long. */
const CALM_MS = 1_000
/** How often it is looked at how many can begin in a while. */
const RATE_MS = 50
/** May wait whatever the rate: the connections of a client that keeps many, or what came behind one slow request, is not too much. */
const MIN_WAITING = 128

export interface OverloadOptions {
  /** Milliseconds that the first of the line may have waited. */
  readonly maxDelayMs: number
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number
  /** Calls `run` once after so many milliseconds, and keeps no process alive for it. */
  readonly later: (run: () => void, milliseconds: number) => void
  /** Called when refusing begins, and when it has ended, with how many were refused. */
  readonly onChange: (isRefusing: boolean, refused: number) => void
}

export interface Overload {
  /** Told in each turn: since when the first of the line waits, null without a line, and how many began since the turn before. */
  readonly look: (at: number, firstSince: number | null, begun: number) => void
  readonly isRefusing: () => boolean
  /** What is more than this in the line is to be refused; infinite while nothing is. */
  readonly maxWaiting: () => number
  /** Told of each refusal. */
  readonly onRefused: (at: number) => void
}

export function createOverload({ maxDelayMs, now, later, onChange }: OverloadOptions): Overload {
  let lateSince: number | null = null
  let isRefusing = false
  let refused = 0
  let refusedAt = 0
  /** Requests a millisecond that begin while others wait. */
  let perMs = 0
  let measuredAt = 0
  let begunSince = 0

  function measureRate(at: number, begun: number, isAnyWaiting: boolean): void {
    begunSince += begun
    const tookMs = at - measuredAt
    if (tookMs < RATE_MS) return
    // Only while others wait it is the most that can be done.
    if (isAnyWaiting) perMs = begunSince / tookMs
    measuredAt = at
    begunSince = 0
  }

  function beginRefusing(at: number): void {
    isRefusing = true
    refusedAt = at
    onChange(true, 0)
    later(calmDown, CALM_MS)
  }

  function calmDown(): void {
    const leftMs = refusedAt + CALM_MS - now()
    if (leftMs > 0) {
      later(calmDown, leftMs)
      return
    }
    isRefusing = false
    onChange(false, refused)
    refused = 0
  }

  return {
    look(at, firstSince, begun) {
      measureRate(at, begun, firstSince !== null)
      if (firstSince === null || at - firstSince <= maxDelayMs) lateSince = null
      else lateSince ??= at
      if (!isRefusing && lateSince !== null && at - lateSince >= PATIENCE_MS) beginRefusing(at)
    },
    isRefusing: () => isRefusing,
    maxWaiting: () => (isRefusing ? Math.max(MIN_WAITING, Math.ceil(perMs * maxDelayMs)) : Number.POSITIVE_INFINITY),
    onRefused(at) {
      refused += 1
      refusedAt = at
    },
  }
}
