// Bounds what one request may read and hold, and the objects and length of its response. A request that exceeds a limit
// is aborted.
import { GatewayError } from '../errors.ts'
import type { Reservation } from '../http/limits/in-flight-bytes.ts'

export interface RequestLimits {
  /** Stored text that the request reads in total, in UTF-16 units, whether or not it stays in memory. */
  readonly maxReadLength: number
  /** Stored and generated text in memory at the same time, in UTF-16 units. */
  readonly maxHeldLength: number
  /** Length of the response: UTF-16 units of text plus bytes of streams. */
  readonly maxResponseLength: number
  /** Objects in the response. */
  readonly maxObjects: number
}

/**
 * The functions throw `RequestAborted`: `RESPONSE_TOO_LARGE`, or `UNAVAILABLE` if all requests together hold too much.
 */
export interface RequestBudget {
  /** Charges stored text, before or right after it is read. */
  readonly read: (length: number) => void
  /** Releases text that was read and is no longer referenced. */
  readonly letGo: (length: number) => void
  /** Charges one object and the text that it adds itself, without that of nested objects. */
  readonly addObject: (length: number) => void
  /** Charges text that belongs to no object, such as errors. */
  readonly addText: (length: number) => void
  /** Charges bytes that are streamed from the store to the client page by page: they count as response, not as held. */
  readonly addStream: (byteLength: number) => void
}

/** Aborts the whole request without data, even inside a nullable field. */
export class RequestAborted extends GatewayError {}

/** A budget without limits, for requests that read at most one row. */
export const UNCOUNTED: RequestBudget = {
  read() {},
  letGo() {},
  addObject() {},
  addText() {},
  addStream() {},
}

/**
 * No limits, for responses whose length the contract does not bound: only the memory that all requests hold together is
 * limited.
 */
export const UNLIMITED: RequestLimits = {
  maxReadLength: Number.POSITIVE_INFINITY,
  maxHeldLength: Number.POSITIVE_INFINITY,
  maxResponseLength: Number.POSITIVE_INFINITY,
  maxObjects: Number.POSITIVE_INFINITY,
}

/** The reservation grows in steps of this size. Most requests never need a step. */
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
