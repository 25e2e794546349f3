// Generates random ids as hexadecimal digits, cheaply enough to make one per request.
import { randomFillSync } from 'node:crypto'

const POOL_BYTES = 16_384

/**
 * Each id has `byteLength` random bytes. The function draws random bytes from the system in bulk and cuts ids out of
 * one long string, so nothing is concatenated per id. A stored id therefore keeps the whole string in memory.
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
