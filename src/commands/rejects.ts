// What of an input is not imported: copied byte for byte from it into a file of its own.
import { type FileHandle, open } from 'node:fs/promises'
import { UsageError } from '../errors.ts'
import type { Line } from '../interchange/lines.ts'

const COPY_BYTES = 65_536
const LINE_FEED = 0x0a

export interface Rejects {
  readonly path: string
  /** Makes the file, or empties it. Throws `UsageError` when it cannot be written, or is the input itself. */
  readonly open: () => Promise<void>
  /** Opens it if need be. One after the other. */
  readonly add: (line: Line) => Promise<void>
  /** How many lines were written; there is no file when it was never opened. */
  readonly close: () => Promise<number>
}

export function createRejects(path: string, input: FileHandle): Rejects {
  const buffer = Buffer.allocUnsafe(COPY_BYTES)
  let file: FileHandle | null = null
  let count = 0

  async function openOnce(): Promise<FileHandle> {
    file ??= await openEmpty(path, input)
    return file
  }

  return {
    path,
    async open() {
      await openOnce()
    },
    async add({ startOffset, endOffset }) {
      const output = await openOnce()
      let last = LINE_FEED
      for (let offset = startOffset; offset < endOffset; ) {
        const { bytesRead } = await input.read(buffer, 0, Math.min(COPY_BYTES, endOffset - offset), offset)
        if (bytesRead === 0) throw new Error('the input became shorter while it was read')
        await output.appendFile(buffer.subarray(0, bytesRead))
        last = buffer[bytesRead - 1] ?? LINE_FEED
        offset += bytesRead
      }
      // The end of the input: another line may follow here.
      if (last !== LINE_FEED) await output.appendFile('\n')
      count += 1
    },
    async close() {
      await file?.close()
      return count
    },
  }
}

async function openEmpty(path: string, input: FileHandle): Promise<FileHandle> {
  try {
    const file = await open(path, 'a', 0o600)
    const [own, source] = await Promise.all([file.stat(), input.stat()])
    if (own.ino === source.ino && own.dev === source.dev) {
      await file.close()
      throw new UsageError(`bad lines cannot be written to ${path}: that is the file they come from`)
    }
    // A pipe or a device has nothing to empty.
    if (own.isFile()) await file.truncate()
    return file
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`bad lines cannot be written to ${path}: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    })
  }
}
