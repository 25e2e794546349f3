// Whether more comes than can be answered: for a while nobody's wait was within the bound.

/** A line that is too slow for less than this is a burst: it is answered, however late. */
const PATIENCE_MS = 250
/** Refusing has ended when nothing was refused for so long. */
const CALM_MS = 1_000

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
  /** Told in each turn since when the first of the line waits, null without a line. */
  readonly look: (at: number, firstSince: number | null) => void
  readonly isRefusing: () => boolean
  /** Told of each refusal. */
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
