// The log as a gateway writes it: where it is read too slowly, lines are lost, and memory does not grow.
import type { Writable } from 'node:stream'

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
