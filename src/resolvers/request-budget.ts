// What one request may use: text read and held, objects and length of its answer. Past it the request ends.
import { GatewayError } from '../errors.ts'
import type { Reservation } from '../http/limits/in-flight-bytes.ts'

export interface RequestLimits {
  /** Stored text that is read, in UTF-16 units, whether or not it is held. */
  readonly maxReadLength: number
  /** Stored text and made text that is in memory at a time, in UTF-16 units. */
  readonly maxHeldLength: number
  /** Of the answer, in UTF-16 units; in bytes where it is streamed. */
  readonly maxResponseLength: number
  /** Objects of the answer. */
  readonly maxObjects: number
}

/** Each verb throws `RequestAborted`: `RESPONSE_TOO_LARGE`, or `UNAVAILABLE` when all requests together hold too much. */
export interface RequestBudget {
  /** Before or right after stored text is read. */
  readonly read: (length: number) => void
  /** Text that was read is not needed any more. */
  readonly letGo: (length: number) => void
  /** One object, and what it writes by itself. */
  readonly addObject: (length: number) => void
  /** Text that is none of an object's own, such as errors. */
  readonly addText: (length: number) => void
  /** Bytes that go from the store to the client page by page. */
  readonly addStream: (byteLength: number) => void
}

/** Ends a request without data, whatever may be null. */
export class RequestAborted extends GatewayError {}

/** For requests that read no more than a row. */
export const UNCOUNTED: RequestBudget = {
  read() {},
  letGo() {},
  addObject() {},
  addText() {},
  addStream() {},
}

/** For answers whose length the contract does not bound: only what all requests hold together is. */
export const UNLIMITED: RequestLimits = {
  maxReadLength: Number.POSITIVE_INFINITY,
  maxHeldLength: Number.POSITIVE_INFINITY,
  maxResponseLength: Number.POSITIVE_INFINITY,
  maxObjects: Number.POSITIVE_INFINITY,
}

/** What is held is taken from the reservation in steps: most requests never take one. */
const STEP = 65_536

export function createRequestBudget(limits: RequestLimits, reservation: Reservation): RequestBudget {
  let [read, held, reserved, written, objects] = [0, 0, 0, 0, 0]

  function requireWithin(value: number, limit: number): void {
    if (value > limit) throw new RequestAborted('RESPONSE_TOO_LARGE')
  }

  function hold(length: number): void {
    held += length
    requireWithin(held, limits.maxHeldLength)
    if (held <= reserved + STEP) return
    const step = Math.ceil((held - reserved) / STEP) * STEP
    if (!reservation.grow(step)) throw new RequestAborted('UNAVAILABLE', { retryAfterSeconds: 1 })
    reserved += step
  }

  function write(length: number): void {
    written += length
    requireWithin(written, limits.maxResponseLength)
  }

  return {
    read(length) {
      read += length
      requireWithin(read, limits.maxReadLength)
      hold(length)
    },
    letGo(length) {
      held -= length
    },
    addObject(length) {
      objects += 1
      requireWithin(objects, limits.maxObjects)
      write(length)
      hold(length)
    },
    addText(length) {
      write(length)
      hold(length)
    },
    addStream: write,
  }
}
