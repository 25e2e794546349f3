// The log as a gateway writes it: where it is read too slowly, lines are lost, and memory does not grow.
import { Writable } from 'node:stream'

/** In each process: a busy gateway's log of a second or two. */
const MAX_WAITING_BYTES = 16_777_216

export interface LogOutput {
  /** `onTaken` is called once the memory of `lines` may be used again. */
  readonly write: (lines: string | Uint8Array, onTaken?: () => void) => void
}

/** What is written while `MAX_WAITING_BYTES` wait for the reader of `stream` is lost. `onLost` is told how much that was, once they were read. */
export function createLogOutput(stream: Writable, onLost: (bytes: number) => void): LogOutput {
  let lostBytes = 0
  stream.on('drain', () => {
    const bytes = lostBytes
    lostBytes = 0
    if (bytes > 0) onLost(bytes)
  })
  return {
    write(lines, onTaken) {
      if (stream.writableLength < MAX_WAITING_BYTES) {
        stream.write(lines, onTaken)
        return
      }
      lostBytes += Buffer.byteLength(lines)
      onTaken?.()
    },
  }
}

/**
 * For several processes that write to the same pipe: each write is one of its own, as long as it was made. What waits for a slow reader would be written
 * together otherwise, and the kernel tears what is longer than PIPE_BUF (pipe(7)).
 */
export function oneWriteAtATime(stream: Writable): Writable {
  return new Writable({
    write(chunk, _encoding, done) {
      let isTaken = false
      // A stream that takes no more tells its own listeners.
      stream.write(chunk, () => {
        if (!isTaken) done()
      })
      // A file, a terminal and a pipe with room take it at once: the last lines of a process that ends do not wait for another turn.
      isTaken = stream.writableLength === 0
      if (isTaken) done()
    },
  })
}
