// Detects overload: for a while, no request waited less than the bound.

/** A queue that is too slow for less than this is a burst: its requests are answered, however late. */
const PATIENCE_MS = 250
/** Refusing ends when nothing was refused for this long. */
const CALM_MS = 1_000

export interface OverloadOptions {
  /** Milliseconds that the first request of the queue may have waited. */
  readonly maxDelayMs: number
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
  /** Calls `run` once after so many milliseconds. The timer does not keep the process alive. */
  readonly later: (run: () => void, milliseconds: number) => void
  /** Called when refusing begins, and when it has ended with the number of refused requests. */
  readonly onChange: (isRefusing: boolean, refused: number) => void
}

export interface Overload {
  /** Called in each turn. `firstSince` is when the first of the queue began to wait; null for an empty queue. */
  readonly look: (at: number, firstSince: number | null) => void
  readonly isRefusing: () => boolean
  /** Called for each refusal. */
  readonly onRefused: (at: number) => void
}

export function createOverload({ maxDelayMs, now, later, onChange }: OverloadOptions): Overload {
  let lateSince: number | null = null
  let isRefusing = false
  let refused = 0
  let refusedAt = 0

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
    look(at, firstSince) {
      if (firstSince === null || at - firstSince <= maxDelayMs) lateSince = null
      else lateSince ??= at
      if (!isRefusing && lateSince !== null && at - lateSince >= PATIENCE_MS) beginRefusing(at)
    },
    isRefusing: () => isRefusing,
    onRefused(at) {
      refused += 1
      refusedAt = at
    },
  }
}
