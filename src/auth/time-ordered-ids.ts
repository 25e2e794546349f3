// Creates time-ordered ids, so that rows that are added together are adjacent in the database. Node 22 has no
// `crypto.randomUUIDv7`.
import { randomUUID } from 'node:crypto'

const COUNTER_END = 0x1000

/** Takes Unix time in milliseconds. */
export type NextId = (now: number) => string

/**
 * UUIDs of version 7 (RFC 9562 section 5.7), strictly increasing: a counter grows within a millisecond (section 6.2,
 * method 1).
 */
export function createTimeOrderedIds(): NextId {
  let time = 0
  let counter = 0
  return (now) => {
    counter += 1
    if (now > time || counter === COUNTER_END) {
      time = Math.max(now, time + 1)
      counter = 0
    }
    const digits = time.toString(16).padStart(12, '0')
    return `${digits.slice(0, 8)}-${digits.slice(8)}-7${counter.toString(16).padStart(3, '0')}${randomUUID().slice(18)}`
  }
}
