// Writes to a stream that may be destroyed before it has taken all bytes.
import type { Writable } from 'node:stream'

/** Resolves once the bytes are consumed or the stream has closed; check `destroyed` to tell them apart. */
export function writeAndDrain(bytes: Uint8Array, stream: Writable): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  // Writing to a closed stream emits an error that nothing handles.
  if (stream.destroyed) return Promise.resolve()
  const settle = () => {
    stream.off('close', settle)
    resolve()
  }
  stream.on('close', settle)
  stream.write(bytes, settle)
  return promise
}
