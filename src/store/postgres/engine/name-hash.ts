// How statements ask for a name: by its hash, which has one length, and which holds no character a text cannot.
import { createHash } from 'node:crypto'

/** What `workspace_gateway.key_of` answers for the name. */
export function keyOf(name: string): Buffer {
  return createHash('sha256').update(name).digest()
}

/** Of a document's text, to be compared with `sha256(convert_to(text, 'UTF8'))`. */
export const digestOf = keyOf
