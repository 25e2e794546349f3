// Writes the rejects file: copies the lines that are not imported from the input, byte for byte.
import { type FileHandle, open, rm, stat } from 'node:fs/promises'
import { throwMachineError, throwUsageError, UsageError } from '../../errors.ts'
import type { Line } from '../../import-export/format/lines.ts'

const COPY_BYTES = 65_536
const LINE_FEED = 0x0a

/**
 * Disposing of it before `close` removes the file: an interrupted import is run again and writes the whole file anew.
 */
export interface Rejects extends AsyncDisposable {
  readonly path: string
  /** Creates the file. Throws `UsageError` when the file exists or cannot be created. */
  readonly open: () => Promise<void>
  /**
   * Adds a line, and opens the file if it is not open. Calls must not overlap. If the file cannot be opened, the line
   * is only counted: the import has begun and should finish. Throws `MachineError` when an open file cannot be written.
   */
  readonly add: (line: Line) => Promise<void>
  /** Closes the file, if it was opened, and returns the totals. */
  readonly close: () => Promise<Rejected>
}

export interface Rejected {
  /** Number of lines. */
  readonly count: number
  /** Why the lines are not in the file; null when they are. */
  readonly problem: string | null
}

export function createRejects(path: string, input: FileHandle): Rejects {
  const buffer = Buffer.allocUnsafe(COPY_BYTES)
  let file: FileHandle | null = null
  let isUnfinished = false
  let count = 0
  let problem: string | null = null

  async function openOnce(): Promise<FileHandle> {
    if (file) return file
    const opened = await openNew(path)
    file = opened.file
    isUnfinished = opened.isNew
    return file
  }

  async function openWhileImporting(): Promise<FileHandle | null> {
    if (problem !== null) return null
    try {
      return await openOnce()
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      problem = error.message
      return null
    }
  }

  function write(output: FileHandle, bytes: Uint8Array | string): Promise<void> {
    return output.appendFile(bytes).catch(throwMachineError(cannotWrite(path)))
  }

  return {
    path,
    async open() {
      await openOnce()
    },
    async add({ startOffset, endOffset }) {
      count += 1
      const output = await openWhileImporting()
      if (!output) return
      let last = LINE_FEED
      for (let offset = startOffset; offset < endOffset; ) {
        const { bytesRead } = await input.read(buffer, 0, Math.min(COPY_BYTES, endOffset - offset), offset)
        if (bytesRead === 0) throw new Error('the input became shorter while it was read')
        await write(output, buffer.subarray(0, bytesRead))
        last = buffer[bytesRead - 1] ?? LINE_FEED
        offset += bytesRead
      }
      // The last line of the input may lack a line feed, and another line may follow it in this file.
      if (last !== LINE_FEED) await write(output, '\n')
    },
    async close() {
      await file?.close()
      isUnfinished = false
      return { count, problem }
    },
    async [Symbol.asyncDispose]() {
      if (!isUnfinished) return
      await file?.close()
      await rm(path, { force: true })
    },
  }
}

/**
 * Refuses an existing regular file: it may be the input, a database or the rejects of an earlier run. Writes to
 * existing pipes and devices.
 */
async function openNew(path: string): Promise<{ readonly file: FileHandle; readonly isNew: boolean }> {
  const known = await stat(path).catch(() => null)
  if (known?.isFile())
    throw new UsageError(`${cannotWrite(path)}: the file exists already: name another one with --rejects`)
  const file = await open(path, known ? 'w' : 'wx', 0o600).catch(throwUsageError(cannotWrite(path)))
  return { file, isNew: known === null }
}

function cannotWrite(path: string): string {
  return `bad lines cannot be written to ${path}`
}
