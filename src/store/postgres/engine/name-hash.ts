// Hashes names for lookups: a hash has a fixed length and can hold characters that PostgreSQL text cannot.
import { hash } from 'node:crypto'

/** The same hash as `workspace_gateway.key_of(name)`. */
export function keyOf(name: string): Buffer {
  return hash('sha256', name, 'buffer')
}

/** Digest of a document's text, to be compared with `sha256(convert_to(text, 'UTF8'))`. */
export const digestOf = keyOf
