// Ids in order of time: what is added together lies together in the database. Node 22 has no `crypto.randomUUIDv7`.
import { randomUUID } from 'node:crypto'

/** A UUID of version 7 (RFC 9562 section 5.7): `now`, Unix time in milliseconds, in 48 bits, then random bits. */
export function timeOrderedId(now: number): string {
  const time = now.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}
