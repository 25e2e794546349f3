// Bounded memory that evicts by CLOCK: entries that were not used since the last sweep go first. Nothing expires.

/**
 * The part of its entries that a sweep visits after there is room again. V8 finds the first entry of a map by stepping
 * over all that were deleted before it: with a sweep for each new entry, this took longer than making the entry.
 */
const SWEPT_AHEAD = 1 / 64

/** The unit of eviction. */
export interface Entry {
  bytes: number
  /**
   * The reference bit of CLOCK: set when the entry is used. A sweep that meets a set bit clears it and spares the
   * entry.
   */
  isReferenced: boolean
}

export interface ClockMemory {
  readonly maxBytes: number
  readonly bytes: () => number
  readonly isOverfull: () => boolean
  /** Counts bytes that an entry, or a reservation, takes from now on; a negative number for those that it gives back. */
  readonly count: (byteLength: number) => void
  /** Makes an entry evictable. Its bytes are counted by the caller. `forget` removes it from the caller's own records. */
  readonly add: (entry: Entry, forget: () => void) => void
  /** Evicts an entry and gives back its bytes. */
  readonly drop: (entry: Entry) => void
  /** Evicts entries if the memory is overfull. Of many entries it evicts some more, so that the next ones have room. */
  readonly sweep: () => void
}

export function createClockMemory(maxBytes: number): ClockMemory {
  /** In sweep order. Each value is the `forget` of the entry. */
  const entries = new Map<Entry, () => void>()
  let bytes = 0

  function drop(entry: Entry): void {
    entries.get(entry)?.()
    entries.delete(entry)
    bytes -= entry.bytes
  }

  return {
    maxBytes,
    bytes: () => bytes,
    isOverfull: () => bytes > maxBytes,
    count(byteLength) {
      bytes += byteLength
    },
    add: (entry, forget) => void entries.set(entry, forget),
    drop,
    sweep() {
      if (bytes <= maxBytes) return
      let ahead = Math.floor(entries.size * SWEPT_AHEAD)
      for (const [entry, forget] of entries) {
        if (bytes <= maxBytes) {
          if (ahead === 0) return
          ahead -= 1
        }
        if (entry.isReferenced) {
          entry.isReferenced = false
          entries.delete(entry)
          entries.set(entry, forget)
        } else {
          drop(entry)
        }
      }
    },
  }
}
