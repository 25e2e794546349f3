// Bytes that come in pieces of any size, in one buffer: a piece of one byte would take some 400 bytes of memory if it were kept.
import type { Reservation } from '../limits/in-flight-bytes.ts'

export interface CollectedBytes {
  /** False, and nothing more is kept, when the reservation has no room. */
  readonly add: (piece: Buffer) => boolean
  readonly byteLength: () => number
  /** All pieces in order. The first one is not copied when no other follows. */
  readonly bytes: () => Buffer
  /** Lets go of all pieces. */
  readonly drop: () => void
}

/** For up to `maxBytes`. Reserves the memory before it takes it. The caller disposes of the reservation. */
export function collectBytes(maxBytes: number, reservation: Pick<Reservation, 'grow'>): CollectedBytes {
  let buffer: Buffer = Buffer.alloc(0)
  let byteLength = 0

  /** Twice as large each time, so that each byte is copied twice at most. */
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
