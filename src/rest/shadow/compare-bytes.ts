// Compares two bodies: reads one first and holds only its digests while the other arrives.
import { hash } from 'node:crypto'

export type Comparison =
  | { readonly type: 'equal' }
  /**
   * `at`: offset of the first byte that differs. If one body is a prefix of the other, it is the length of the shorter
   * one.
   */
  | { readonly type: 'different'; readonly at: number }
  /** Equal up to `maxBytes`, but longer. */
  | { readonly type: 'cut' }

type Body = AsyncIterable<Uint8Array>

interface Block {
  /** Offset in the body. */
  readonly at: number
  /** Null for the part beyond `maxBytes`. */
  readonly bytes: Uint8Array | null
}

const BLOCK_BYTES = 65_536

/** Returns a digest per block, up to `maxBytes`. Rethrows errors from reading. */
export async function digestsOf(body: Body, maxBytes: number): Promise<readonly string[]> {
  const digests: string[] = []
  for await (const block of blocksOf(body, maxBytes)) digests.push(digestOf(block))
  return digests
}

/**
 * `digests` belong to the first body, and `readAgain` opens it again to find the byte that differs. If that block has
 * changed meanwhile, `at` is the start of the block. Rethrows errors from reading; closes both bodies in any case.
 */
export async function compareBytes(
  digests: readonly string[],
  readAgain: () => Body,
  other: Body,
  maxBytes: number,
): Promise<Comparison> {
  let index = 0
  let end = 0
  let isCut = false
  for await (const block of blocksOf(other, maxBytes)) {
    if (digestOf(block) !== digests[index]) {
      return { type: 'different', at: await firstDifference(block, readAgain(), maxBytes) }
    }
    index += 1
    end = block.at + (block.bytes?.byteLength ?? 0)
    isCut = block.bytes === null
  }
  if (index < digests.length) return { type: 'different', at: end }
  return isCut ? { type: 'cut' } : { type: 'equal' }
}

async function firstDifference({ at, bytes }: Block, body: Body, maxBytes: number): Promise<number> {
  for await (const block of blocksOf(body, maxBytes)) {
    if (block.at !== at) continue
    const [one, other] = [bytes ?? new Uint8Array(), block.bytes ?? new Uint8Array()]
    const length = Math.min(one.byteLength, other.byteLength)
    const found = one.subarray(0, length).findIndex((byte, index) => byte !== other[index])
    if (found !== -1) return at + found
    return one.byteLength === other.byteLength ? at : at + length
  }
  return at
}

function digestOf({ bytes }: Block): string {
  return bytes === null ? 'longer' : hash('sha256', bytes, 'base64')
}

/**
 * All blocks but the last have `BLOCK_BYTES`. A block is valid until the next one: the bytes are copied because a chunk
 * of an export does not outlive the next read.
 */
async function* blocksOf(body: Body, maxBytes: number): AsyncGenerator<Block> {
  const block = new Uint8Array(BLOCK_BYTES)
  let at = 0
  let length = 0
  for await (const part of body) {
    for (let rest = part; rest.byteLength > 0; ) {
      if (at + length === maxBytes) {
        if (length > 0) yield { at, bytes: block.subarray(0, length) }
        yield { at: maxBytes, bytes: null }
        return
      }
      const taken = rest.subarray(0, Math.min(BLOCK_BYTES - length, maxBytes - at - length))
      block.set(taken, length)
      length += taken.byteLength
      rest = rest.subarray(taken.byteLength)
      if (length < BLOCK_BYTES) continue
      yield { at, bytes: block }
      at += length
      length = 0
    }
  }
  if (length > 0) yield { at, bytes: block.subarray(0, length) }
}
