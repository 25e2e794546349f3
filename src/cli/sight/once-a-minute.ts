// Limits how often a line is written about an event that others can cause at any rate.

/** Minimum time between two lines. */
export const LINE_PAUSE_MS = 60_000

/**
 * Returns a function that says whether another line of a kind is due, and if so counts it as written. `clock` is in
 * milliseconds.
 */
export function onceAMinute<Kind>(clock: () => number): (kind: Kind) => boolean {
  const toldAt = new Map<Kind, number>()
  return (kind) => {
    const now = clock()
    const isDue = now - (toldAt.get(kind) ?? -Infinity) >= LINE_PAUSE_MS
    if (isDue) toldAt.set(kind, now)
    return isDue
  }
}
