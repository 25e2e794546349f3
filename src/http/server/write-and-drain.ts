// Writing to a stream that may be gone before it has taken everything.
import type { Writable } from 'node:stream'

/** Settles once the bytes are used, or the stream has ended, which `destroyed` tells. */
export function writeAndDrain(bytes: Uint8Array, stream: Writable): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  // Writing to what has ended is an error that nobody listens for.
  if (stream.destroyed) return Promise.resolve()
  const settle = () => {
    stream.off('close', settle)
    resolve()
  }
  stream.on('close', settle)
  stream.write(bytes, settle)
  return promise
}
