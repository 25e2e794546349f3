// One budget for the memory of all requests in flight: a request reserves memory before it takes it, and is refused when there is none.
import { GatewayError } from '../../errors.ts'

/** A reservation of up to this many bytes always passes: small reads go on while large ones wait for room. */
export const SMALL_RESERVATION_BYTES = 262_144
/** Once others hold such a part of the budget, or of what a user may hold, a small reservation becomes no large one: its answer would be refused half made. */
const PART_FOR_BEGINNERS = 7 / 8
/** What the requests of one user hold together, unless it is one of them that holds it: a list may be as long as the budget. */
const PART_FOR_USER = 3 / 4

/** What one request holds. Disposing gives all of it back; doing so twice is harmless. */
export interface Reservation extends Disposable {
  /** Takes `byteLength` more; false, and nothing is taken, when there is no room. */
  readonly grow: (byteLength: number) => boolean
  /** The same; throws `UNAVAILABLE` with a `Retry-After` of one second when there is no room. */
  readonly require: (byteLength: number) => void
  /** Gives back a part: bytes that were sent, or were not needed after all. */
  readonly shrink: (byteLength: number) => void
  readonly byteLength: () => number
}

export interface InFlightBytes {
  /** Up to `smallBytes` it always passes; 0 for what can be asked for again, and so can wait. `userId` of whom it is held for, where that is known. */
  readonly open: (smallBytes?: number, userId?: number | null) => Reservation
  /** What all reservations hold now. */
  readonly byteLength: () => number
}

/**
 * The budget is exceeded by small reservations only: one that is larger than `SMALL_RESERVATION_BYTES` grows while all
 * together, itself included, hold at most `maxBytes`, and those of its user their part.
 */
export function createInFlightBytes(maxBytes: number): InFlightBytes {
  let held = 0
  const heldBy = new Map<number, number>()

  function add(byteLength: number, userId: number | null): void {
    held += byteLength
    if (userId === null) return
    const ofUser = (heldBy.get(userId) ?? 0) + byteLength
    if (ofUser === 0) heldBy.delete(userId)
    else heldBy.set(userId, ofUser)
  }

  function open(smallBytes = SMALL_RESERVATION_BYTES, userId: number | null = null): Reservation {
    let own = 0
    let isDisposed = false

    function isBeyondPart(byteLength: number, isBeginner: boolean): boolean {
      const ofUser = userId === null ? own : (heldBy.get(userId) ?? 0)
      const besides = ofUser - own
      if (besides <= SMALL_RESERVATION_BYTES) return false
      const part = maxBytes * PART_FOR_USER
      return ofUser + byteLength > part || (isBeginner && besides > part * PART_FOR_BEGINNERS)
    }

    function grow(byteLength: number): boolean {
      if (isDisposed) throw new Error('a reservation was used after it was given back')
      if (own + byteLength > smallBytes) {
        const isBeginner = smallBytes > 0 && own <= smallBytes
        if (held + byteLength > maxBytes || (isBeginner && held - own > maxBytes * PART_FOR_BEGINNERS)) return false
        if (isBeyondPart(byteLength, isBeginner)) return false
      }
      own += byteLength
      add(byteLength, userId)
      return true
    }

    function shrink(byteLength: number): void {
      const given = Math.min(byteLength, own)
      own -= given
      add(-given, userId)
    }

    return {
      grow,
      require(byteLength) {
        if (!grow(byteLength)) throw noRoom()
      },
      shrink,
      byteLength: () => own,
      [Symbol.dispose]() {
        isDisposed = true
        shrink(own)
      },
    }
  }

  return { open, byteLength: () => held }
}

function noRoom(): GatewayError {
  return new GatewayError('UNAVAILABLE', {
    message: 'The gateway is sending as much as it has memory for: try again shortly.',
    retryAfterSeconds: 1,
  })
}
