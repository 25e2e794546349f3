// Random ids as hexadecimal digits, for what has one with each request.
import { randomBytes } from 'node:crypto'

const POOL_BYTES = 4_096

/** Of so many bytes each. The system is asked for many at a time, and an id is a piece of one text: nothing is put together for it. */
export function createIds(byteLength: number): () => string {
  let pool = ''
  let at = 0
  return () => {
    if (at + byteLength * 2 > pool.length) {
      pool = randomBytes(POOL_BYTES).toString('hex')
      at = 0
    }
    at += byteLength * 2
    return pool.slice(at - byteLength * 2, at)
  }
}
