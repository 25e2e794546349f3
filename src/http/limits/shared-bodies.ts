// Counts bodies that are being sent in the in-flight budget: each body once, however many connections it is sent on.
import type { InFlightBytes, Reservation } from './in-flight-bytes.ts'

interface Sending {
  readonly reservation: Reservation
  connections: number
}

/** Returns what releases the body; dispose of it once. Throws `UNAVAILABLE` when there is no room for the body. */
export type HoldBody = (body: Uint8Array) => Disposable

export function createSharedBodies(inFlight: InFlightBytes): HoldBody {
  const sendings = new Map<Uint8Array, Sending>()

  function start(body: Uint8Array): Sending {
    const sending = { reservation: inFlight.open(), connections: 0 }
    sending.reservation.require(body.byteLength)
    sendings.set(body, sending)
    return sending
  }

  return (body) => {
    const sending = sendings.get(body) ?? start(body)
    sending.connections += 1
    return {
      [Symbol.dispose]() {
        sending.connections -= 1
        if (sending.connections > 0) return
        sendings.delete(body)
        sending.reservation[Symbol.dispose]()
      },
    }
  }
}
