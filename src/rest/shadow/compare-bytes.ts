// Two bodies side by side, each read only as far as the other: memory for one piece of either.

export type Comparison =
  | { readonly type: 'equal' }
  /** `at`: of the first byte that is not the same; the length of the shorter body where that is the beginning of the other. */
  | { readonly type: 'different'; readonly at: number }
  /** The same as far as was looked. */
  | { readonly type: 'cut' }

type Body = AsyncIterable<Uint8Array>

/** Looks at no more than `maxBytes` of each. Throws what reading throws; whatever happens, both are told that no more is wanted. */
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
    /** What comes next, at least a byte; null at the end. */
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
