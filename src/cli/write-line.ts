// Output line by line, no faster than it is read, and into files that a disk may have no room for.
import { once } from 'node:events'
import type { FileHandle } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { MachineError, reasonOf } from '../errors.ts'

/** Rejects with the error of a stream that takes no more, and once `stop` is aborted while its reader is waited for. */
export async function writeLine(stream: Writable, line: string, stop?: AbortSignal): Promise<void> {
  if (stream.errored) throw stream.errored
  if (!stream.write(`${line}\n`)) await once(stream, 'drain', stop ? { signal: stop } : {})
}

/** Throws what `chunks` throws, and a `MachineError` that begins with what could not be done where the file takes no more. */
export async function writeChunks(
  file: FileHandle,
  chunks: AsyncIterable<string | Uint8Array>,
  failure: string,
): Promise<void> {
  for await (const chunk of chunks) {
    await file.writeFile(chunk).catch((error: unknown) => {
      throw new MachineError(`${failure}: ${reasonOf(error)}`, { cause: error })
    })
  }
}
