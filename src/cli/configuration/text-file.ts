// Reads a text file that an operator wrote: UTF-8, with or without a byte order mark.
import { closeSync, openSync, readSync } from 'node:fs'
import { UsageError, unreadable } from '../../errors.ts'

/** A list of a million emails is shorter. A device such as /dev/zero has no end. */
const MAX_BYTES = 134_217_728
const CHUNK_BYTES = 65_536
const UTF8 = new TextDecoder('utf-8', { fatal: true })
/** Byte order marks (RFC 2781 section 3.2). */
const UTF_16_MARKS: readonly Buffer[] = [Buffer.of(0xff, 0xfe), Buffer.of(0xfe, 0xff)]

export const UTF_16_PROBLEM = 'it is UTF-16, as > of Windows PowerShell writes it: save it as UTF-8'

export function isUtf16(begin: Buffer): boolean {
  return UTF_16_MARKS.some((mark) => begin.subarray(0, mark.byteLength).equals(mark))
}

/** Throws an error whose message, or code, says why the file cannot be read. Neither repeats its content. */
export function readTextFile(path: string): string {
  const bytes = readBytes(path)
  if (isUtf16(bytes)) throw new Error(UTF_16_PROBLEM)
  try {
    return UTF8.decode(bytes)
  } catch (error) {
    throw new Error('it is not UTF-8', { cause: error })
  }
}

/** Like `readTextFile`, but throws `UsageError` with the option that names the file. */
export function readFileOf(flag: string, path: string): string {
  try {
    return readTextFile(path)
  } catch (error) {
    throw new UsageError(`${flag}: ${unreadable(path, error)}`)
  }
}

function readBytes(path: string): Buffer {
  const file = openSync(path, 'r')
  try {
    const chunks: Buffer[] = []
    for (let length = 0; length <= MAX_BYTES; ) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
      const bytesRead = readSync(file, chunk)
      if (bytesRead === 0) return Buffer.concat(chunks)
      chunks.push(chunk.subarray(0, bytesRead))
      length += bytesRead
    }
    throw new Error(`it is longer than ${MAX_BYTES / 1_048_576} MiB`)
  } finally {
    closeSync(file)
  }
}
