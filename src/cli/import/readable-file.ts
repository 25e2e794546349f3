// Opens a file that is read more than once, and rejects early what is not a regular file or is compressed or UTF-16.
import type { Stats } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { MachineError, UsageError, unreadable } from '../../errors.ts'
import { isUtf16, UTF_16_PROBLEM } from '../configuration/text-file.ts'

/** Magic numbers of gzip and zstd (RFC 1952 section 2.3.1, RFC 8878 section 3.1.1). */
const COMPRESSED: readonly Buffer[] = [Buffer.of(0x1f, 0x8b), Buffer.of(0x28, 0xb5, 0x2f, 0xfd)]
const LONGEST_MARK = 4

/** The caller closes the file. `insteadOfFile` is advice for a path that is not a regular file. Throws `UsageError`. */
export async function openReadableFile(path: string, insteadOfFile = ''): Promise<FileHandle> {
  try {
    // Checked before opening: opening a pipe without a writer would block.
    const problem = problemOf(await stat(path), insteadOfFile)
    if (problem === null) return await open(path)
    throw new UsageError(`cannot read ${path}: ${problem}`)
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(unreadable(path, error))
  }
}

function problemOf(found: Stats, insteadOfFile: string): string | null {
  if (found.isDirectory()) return 'it is a folder'
  return found.isFile() ? null : `not a file${insteadOfFile}`
}

/** Throws `UsageError` for a compressed or UTF-16 file, `MachineError` if the disk fails. `name` is for messages. */
export async function requirePlain(file: FileHandle, name: string): Promise<void> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(LONGEST_MARK), 0, LONGEST_MARK, 0).catch((error) => {
    throw new MachineError(unreadable(name, error), { cause: error })
  })
  const begin = buffer.subarray(0, bytesRead)
  if (COMPRESSED.some((mark) => begin.subarray(0, mark.byteLength).equals(mark))) {
    throw new UsageError(`cannot read ${name}: it is compressed, so unpack it first`)
  }
  if (isUtf16(begin)) throw new UsageError(`cannot read ${name}: ${UTF_16_PROBLEM}`)
}
