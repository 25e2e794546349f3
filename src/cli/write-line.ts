// Writes lines to a stream with backpressure, and chunks to a file with errors such as a full disk reported.
import { once } from 'node:events'
import type { FileHandle } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { throwMachineError } from '../errors.ts'

/**
 * Waits for `drain` when the stream is full. Rejects with the error of a failed stream, and when `stop` is aborted
 * meanwhile.
 */
export async function writeLine(stream: Writable, line: string, stop?: AbortSignal): Promise<void> {
  if (stream.errored) throw stream.errored
  if (!stream.write(`${line}\n`)) await once(stream, 'drain', stop ? { signal: stop } : {})
}

/**
 * Throws what `chunks` throws, and a `MachineError` whose message begins with `failure` when the file cannot be
 * written.
 */
export async function writeChunks(
  file: FileHandle,
  chunks: AsyncIterable<string | Uint8Array>,
  failure: string,
): Promise<void> {
  for await (const chunk of chunks) await file.writeFile(chunk).catch(throwMachineError(failure))
}
