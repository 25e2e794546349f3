// Collects chunks of any size in one buffer: kept on its own, a chunk of one byte would take some 400 bytes of memory.
import type { Reservation } from '../limits/in-flight-bytes.ts'

export interface CollectedBytes {
  /** Returns false, and stores nothing more, when the reservation has no room. */
  readonly add: (piece: Buffer) => boolean
  readonly byteLength: () => number
  /** Returns all chunks in order. A single chunk is not copied. */
  readonly bytes: () => Buffer
  /** Releases all chunks. */
  readonly drop: () => void
}

/** Collects up to `maxBytes`. Reserves memory before allocating it. The caller disposes of the reservation. */
export function collectBytes(maxBytes: number, reservation: Pick<Reservation, 'grow'>): CollectedBytes {
  let buffer: Buffer = Buffer.alloc(0)
  let byteLength = 0

  /** Doubles the capacity, so that each byte is copied at most twice. */
  function makeRoom(wanted: number): boolean {
    if (wanted <= buffer.byteLength) return true
    const capacity = Math.max(wanted, Math.min(2 * buffer.byteLength, maxBytes))
    if (!reservation.grow(capacity - buffer.byteLength)) return false
    const larger = Buffer.allocUnsafeSlow(capacity)
    buffer.copy(larger, 0, 0, byteLength)
    buffer = larger
    return true
  }

  return {
    add(piece) {
      const length = byteLength + piece.byteLength
      if (byteLength === 0) {
        if (!reservation.grow(length - buffer.byteLength)) return false
        buffer = piece
      } else {
        if (!makeRoom(length)) return false
        piece.copy(buffer, byteLength)
      }
      byteLength = length
      return true
    },
    byteLength: () => byteLength,
    bytes: () => buffer.subarray(0, byteLength),
    drop() {
      buffer = Buffer.alloc(0)
      byteLength = 0
    },
  }
}
