// What an answer of another server may take: so much time for each piece, and so many bytes.

const PIECE_BYTES = 65_536

/** The answer came too slowly, or not at all. */
export class SilenceError extends Error {
  override readonly name = 'SilenceError'
}

export interface SilenceLimit extends Disposable {
  /** Its reason is a `SilenceError` unless one of `stops` has aborted it. */
  readonly signal: AbortSignal
  readonly isHeard: () => void
}

/** Aborts when nothing was heard for so long, or when another signal does. */
export function createSilenceLimit(ms: number, stops: readonly AbortSignal[]): SilenceLimit {
  const silent = new AbortController()
  const timer = setTimeout(() => silent.abort(new SilenceError('it took too long')), ms)
  return {
    signal: AbortSignal.any([...stops, silent.signal]),
    isHeard: () => timer.refresh(),
    [Symbol.dispose]: () => clearTimeout(timer),
  }
}

/**
 * All of a body; null when it has more than `maxBytes`, of which no more is kept then. `silence` hears each 64 KiB, so that an answer
 * that drips ends too. `onBytes` is told how many came. Throws what `body` throws.
 */
export async function readWhole(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes: number,
  silence: SilenceLimit,
  onBytes: (byteLength: number) => void = () => {},
): Promise<Buffer | null> {
  const chunks: Uint8Array[] = []
  let byteLength = 0
  for await (const chunk of body) {
    const pieces = Math.floor(byteLength / PIECE_BYTES)
    byteLength += chunk.byteLength
    if (Math.floor(byteLength / PIECE_BYTES) > pieces) silence.isHeard()
    onBytes(chunk.byteLength)
    if (byteLength > maxBytes) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
