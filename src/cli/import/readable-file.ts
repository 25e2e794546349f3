// A file that is read more than once, from its beginning: what is none, or is compressed, is said before anything is made of it.
import type { Stats } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { UsageError } from '../../errors.ts'

/** What files of gzip and of zstd begin with (RFC 1952 section 2.3.1, RFC 8878 section 3.1.1). */
const COMPRESSED: readonly Buffer[] = [Buffer.of(0x1f, 0x8b), Buffer.of(0x28, 0xb5, 0x2f, 0xfd)]
const LONGEST_MARK = 4

/** The caller closes it. `insteadOfFile`: what would help with what is none. Throws `UsageError`. */
export async function openReadableFile(path: string, insteadOfFile = ''): Promise<FileHandle> {
  try {
    // Before it is opened: a pipe that nobody writes to would hold that up.
    const problem = problemOf(await stat(path), insteadOfFile)
    if (problem === null) return await open(path)
    throw new UsageError(`cannot read ${path}: ${problem}`)
  } catch (error) {
    if (error instanceof UsageError) throw error
    const { code, message } = error as NodeJS.ErrnoException
    throw new UsageError(`cannot read ${path}: ${code === 'ENOENT' ? 'there is no such file' : message}`)
  }
}

function problemOf(found: Stats, insteadOfFile: string): string | null {
  if (found.isDirectory()) return 'it is a folder'
  return found.isFile() ? null : `not a file${insteadOfFile}`
}

/** Throws `UsageError` for a file that is compressed. `name` is for messages. */
export async function requireUncompressed(file: FileHandle, name: string): Promise<void> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(LONGEST_MARK), 0, LONGEST_MARK, 0)
  const begin = buffer.subarray(0, bytesRead)
  if (COMPRESSED.some((mark) => begin.subarray(0, mark.byteLength).equals(mark))) {
    throw new UsageError(`cannot read ${name}: it is compressed, so unpack it first`)
  }
}
