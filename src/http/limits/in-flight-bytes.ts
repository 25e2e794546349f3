// One memory budget for all requests in flight: a request reserves memory before it allocates it, and is refused when
// the budget is used up.
import { GatewayError } from '../../errors.ts'

/** A reservation of up to this many bytes always succeeds, so small reads continue while large ones wait for room. */
export const SMALL_RESERVATION_BYTES = 262_144
/**
 * Once others hold this fraction of the budget, or of one user's share, a small reservation may not grow into a large
 * one: its response would be refused half made.
 */
const PART_FOR_BEGINNERS = 7 / 8
/**
 * The fraction of the budget that the requests of one user may hold together. A single request may hold more, since a
 * list may be as long as the budget.
 */
const PART_FOR_USER = 1 / 2

/** The memory that one request holds. Disposing releases all of it and is idempotent. */
export interface Reservation extends Disposable {
  /** Reserves `byteLength` more bytes. Returns false, and reserves nothing, when there is no room. */
  readonly grow: (byteLength: number) => boolean
  /** Like `grow`, but throws `UNAVAILABLE` with a `Retry-After` of one second when there is no room. */
  readonly require: (byteLength: number) => void
  /** Releases a part: bytes that were sent, or were not needed after all. */
  readonly shrink: (byteLength: number) => void
  readonly byteLength: () => number
}

export interface InFlightBytes {
  /**
   * Up to `smallBytes` the reservation always succeeds; use 0 for work that can be retried and so can wait. `userId` is
   * the user whom the memory is held for, if known.
   */
  readonly open: (smallBytes?: number, userId?: number | null) => Reservation
  /** Bytes held by all reservations now. */
  readonly byteLength: () => number
}

/**
 * Only small reservations may exceed the budget. A reservation larger than `SMALL_RESERVATION_BYTES` grows only while
 * all reservations together, itself included, hold at most `maxBytes`, and those of its user at most their share.
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

    /** Whether so many bytes more exceed a limit of which `taken` is in use, by this reservation and others. */
    function exceeds(limit: number, taken: number, byteLength: number): boolean {
      const isBeginner = smallBytes > 0 && own <= smallBytes
      return taken + byteLength > limit || (isBeginner && taken - own > limit * PART_FOR_BEGINNERS)
    }

    function exceedsShare(byteLength: number): boolean {
      const ofUser = userId === null ? own : (heldBy.get(userId) ?? 0)
      // Beside small ones, a single request may hold more than the share.
      if (ofUser - own <= SMALL_RESERVATION_BYTES) return false
      return exceeds(maxBytes * PART_FOR_USER, ofUser, byteLength)
    }

    function grow(byteLength: number): boolean {
      if (isDisposed) throw new Error('a reservation was used after it was given back')
      const isSmall = own + byteLength <= smallBytes
      if (!isSmall && (exceeds(maxBytes, held, byteLength) || exceedsShare(byteLength))) return false
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
    message: 'The gateway has no memory left for another large answer: try again shortly.',
    retryAfterSeconds: 1,
  })
}
