// Output line by line, no faster than it is read.
import { once } from 'node:events'
import type { Writable } from 'node:stream'

/** Rejects with the error of a stream that takes no more. */
export async function writeLine(stream: Writable, line: string): Promise<void> {
  if (stream.errored) throw stream.errored
  if (!stream.write(`${line}\n`)) await once(stream, 'drain')
}
