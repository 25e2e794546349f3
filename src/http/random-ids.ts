// Random ids as hexadecimal digits, for what has one with each request.
import { randomFillSync } from 'node:crypto'

const POOL_BYTES = 16_384

/**
 * Of so many bytes each. The system is asked for many at a time, and an id is a piece of one text: nothing is put together for it. Who keeps
 * an id keeps the whole text.
 */
export function createIds(byteLength: number): () => string {
  const bytes = Buffer.alloc(POOL_BYTES)
  let pool = ''
  let at = 0
  return () => {
    if (at + byteLength * 2 > pool.length) {
      pool = randomFillSync(bytes).toString('hex')
      at = 0
    }
    at += byteLength * 2
    return pool.slice(at - byteLength * 2, at)
  }
}
