// Measures how old a cached copy is by two clocks: the monotonic one stops while the machine sleeps, and the wall clock
// can be set.

export interface Instant {
  readonly monotonic: number
  readonly wall: number
}

export const NEVER: Instant = { monotonic: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY }

/** `clock` returns milliseconds since the epoch. */
export function now(clock: () => number): Instant {
  return { monotonic: performance.now(), wall: clock() }
}

/**
 * The greater of both ages. A wall clock that was set back makes copies old too: the machine may have slept before that.
 */
export function ageMs(since: Instant, clock: () => number): number {
  const { monotonic, wall } = now(clock)
  return Math.max(monotonic - since.monotonic, Math.abs(wall - since.wall))
}
