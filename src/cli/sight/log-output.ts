// Writes the log with bounded memory: when its reader is too slow, lines are dropped.
import { Writable } from 'node:stream'

/** Maximum buffered bytes per process: the log of a busy gateway for a second or two. */
const MAX_WAITING_BYTES = 16_777_216

export interface LogOutput {
  /** `onTaken` is called once the memory of `lines` may be used again. */
  readonly write: (lines: string | Uint8Array, onTaken?: () => void) => void
}

/**
 * Drops lines while `MAX_WAITING_BYTES` are buffered for the reader of `stream`. Once the buffer has drained, `onLost`
 * receives the number of dropped bytes.
 */
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
 * For several processes that write to the same pipe: passes each chunk to the stream as one separate write. Otherwise
 * chunks buffered for a slow reader would be written together, and the kernel may interleave writes longer than
 * PIPE_BUF (pipe(7)).
 */
export function oneWriteAtATime(stream: Writable): Writable {
  return new Writable({
    write(chunk, _encoding, done) {
      let isTaken = false
      // The error is ignored here: a failed stream informs its own listeners.
      stream.write(chunk, () => {
        if (!isTaken) done()
      })
      // A file, a terminal or a pipe with room takes the chunk synchronously, so the last lines of an ending process
      // need no further turn of the event loop.
      isTaken = stream.writableLength === 0
      if (isTaken) done()
    },
  })
}
