// Limits the time and the bytes of another server's response.

const PIECE_BYTES = 65_536

/** The response stalled, or did not come at all. */
export class SilenceError extends Error {
  override readonly name = 'SilenceError'
}

export interface SilenceLimit extends Disposable {
  /** Aborted with a `SilenceError`, unless one of `stops` aborted it first. */
  readonly signal: AbortSignal
  readonly isHeard: () => void
}

/** Aborts after `ms` milliseconds without a call of `isHeard`, or when one of `stops` aborts. */
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
 * Aborted `ms` milliseconds after `stop`. Until then, sessions can be ended, and a request that opens one can be answered,
 * because without the answer its session could not be ended.
 */
export function createLateStop(stop: AbortSignal, ms: number): AbortSignal {
  const late = new AbortController()
  stop.addEventListener('abort', () => setTimeout(() => late.abort(), ms).unref(), { once: true })
  return late.signal
}

/**
 * Reads a whole body; null when it has more than `maxBytes`, and then stops reading. It restarts `silence` after every
 * 64 KiB, so that a response that only trickles in ends too. `onBytes` is called with the length of each chunk. Throws
 * what `body` throws.
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
