// Compares two bodies while they arrive: memory holds one chunk of each.

export type Comparison =
  | { readonly type: 'equal' }
  /** `at`: offset of the first byte that differs. Where one body is the beginning of the other, it is the length of the shorter one. */
  | { readonly type: 'different'; readonly at: number }
  /** Equal up to `maxBytes`, and longer. */
  | { readonly type: 'cut' }

type Body = AsyncIterable<Uint8Array>

/** Stops after `maxBytes`. Throws what reading throws. Both iterators are closed in any case. */
export async function compareBytes(some: Body, others: Body, maxBytes: number): Promise<Comparison> {
  const [a, b] = [createSide(some), createSide(others)]
  try {
    for (let at = 0; ; ) {
      const [left, right] = await Promise.all([a.peek(), b.peek()])
      if (left === null || right === null) return left === right ? { type: 'equal' } : { type: 'different', at }
      if (at >= maxBytes) return { type: 'cut' }
      const length = Math.min(left.byteLength, right.byteLength)
      const [one, other] = [left.subarray(0, length), right.subarray(0, length)]
      if (Buffer.compare(one, other) !== 0) {
        return { type: 'different', at: at + one.findIndex((byte, index) => byte !== other[index]) }
      }
      a.skip(length)
      b.skip(length)
      at += length
    }
  } finally {
    await Promise.allSettled([a.end(), b.end()])
  }
}

function createSide(body: Body) {
  const iterator = body[Symbol.asyncIterator]()
  let piece: Uint8Array = new Uint8Array()
  return {
    /** What is left of the current chunk, or the next one, at least a byte; null at the end. */
    async peek(): Promise<Uint8Array | null> {
      while (piece.byteLength === 0) {
        const next = await iterator.next()
        if (next.done) return null
        piece = next.value
      }
      return piece
    },
    skip(byteLength: number) {
      piece = piece.subarray(byteLength)
    },
    end: async () => iterator.return?.(),
  }
}
