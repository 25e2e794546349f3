// Publishes a file atomically: a backup or a dump appears under its name only when it is complete and synced to disk.
import { createHash, randomUUID } from 'node:crypto'
import { link, lstat, open, readFile, rename, rm } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { MachineError, reasonOf, throwUsageError, UsageError, unreadable } from '../../errors.ts'
import { memberOf } from '../../member-of.ts'

const READ_BYTES = 262_144
/** A line of `sha256sum`. It begins with a backslash when the file name contains an escaped character. */
const DIGEST_LINE = /^\\?([0-9a-f]{64}) [ *]/
/** Suffixes of the files that SQLite leaves beside a database that was not written to its end. */
const SQLITE_ENDS = ['-wal', '-shm', '-journal']
const DIGEST_END = '.sha256'
const PART = /^(.+)\.[0-9a-f]{8}\.part$/
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r' }

/** Throws `UsageError` when `path` is empty or already exists. */
export async function requireFree(path: string): Promise<void> {
  if (path === '') throw new UsageError('name a file for the backup')
  if (await isTaken(path)) throw new UsageError(takenMessage(path))
}

/** Also true for a dangling symbolic link: it is not overwritten either. */
export async function isTaken(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null
}

export function takenMessage(path: string): string {
  return `${path} exists already and is not overwritten: name another file`
}

/**
 * Returns the SHA-256 digest of the file in hex. Writes the file under a temporary name in the same folder, with mode
 * 0600, so that `path` holds either nothing or the complete file. Writes the digest beside it, in the format of
 * `sha256sum -c`. When several processes publish the same name, one succeeds; the others throw `MachineError` and leave
 * its file unchanged.
 */
export async function publishFile(path: string, fill: (part: string) => Promise<void>): Promise<string> {
  if (await isTaken(path)) throw new MachineError(takenMessage(path))
  const part = partOf(path)
  const file = await open(part, 'wx', 0o600).catch(throwUsageError(`cannot write ${part}`))
  await file.close()
  const digestPart = part + DIGEST_END
  try {
    await fill(part)
    await syncPath(part)
    const digest = await digestOf(part)
    await writeDigest(digestPart, digestLine(digest, basename(path)))
    await publishPair(path, part, digestPart)
    return digest
  } catch (error) {
    throw isSystemError(error) ? new MachineError(`cannot write ${path}: ${reasonOf(error)}`) : error
  } finally {
    await removeParts(part)
    await rm(digestPart, { force: true })
  }
}

/** The temporary name of a file until it is complete, in the same folder. */
export function partOf(path: string): string {
  return `${path}.${randomUUID().slice(0, 8)}.part`
}

/** The final name of a partial file, or of a digest or SQLite file beside one; null for any other file. */
export function wholeNameOf(name: string): string | null {
  const end = [DIGEST_END, ...SQLITE_ENDS].find((end) => name.endsWith(end)) ?? ''
  return PART.exec(name.slice(0, name.length - end.length))?.[1] ?? null
}

/** Removes a partial file and the SQLite files beside it. Errors are ignored. */
export async function removeParts(part: string): Promise<void> {
  // With a suffix the name may be too long. Then no such file exists.
  for (const end of ['', ...SQLITE_ENDS]) await rm(part + end, { force: true }).catch(() => {})
}

/** An error about the disk, a folder or permissions. Its message is enough for the operator. */
function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error
}

/**
 * The process that links the file under its final name wins. No other process may write the digest: it may be the
 * winner's.
 */
async function publishPair(path: string, part: string, digestPart: string): Promise<void> {
  // The digest is linked before the file, so that the file never appears without one. If an old digest was left there,
  // the file does not match it, and `restore` refuses the file until the rename below.
  if (!(await isTaken(path))) await linkNew(digestPart, path + DIGEST_END)
  // A link instead of a rename: a rename would overwrite a file that appeared in the meantime.
  if (!(await linkNew(part, path))) throw new MachineError(takenMessage(path))
  await rename(digestPart, path + DIGEST_END)
  await syncPath(dirname(path))
}

/** False when `to` already exists. */
export async function linkNew(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function digestLine(digest: string, name: string): string {
  const escaped = name.replaceAll(/[\\\n\r]/g, (character) => ESCAPES[character] ?? character)
  return `${escaped === name ? '' : '\\'}${digest}  ${escaped}\n`
}

async function writeDigest(part: string, line: string): Promise<void> {
  const file = await open(part, 'wx', 0o600)
  await file.writeFile(line)
  await file.sync()
  await file.close()
}

/** Makes a file's content, or a folder's entries, survive a power failure (fsync). */
export async function syncPath(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

export async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  // One buffer for the whole file: with a stream, gigabytes of input would become gigabytes of garbage, which the
  // collector clears with every processor.
  const buffer = Buffer.alloc(READ_BYTES)
  const file = await open(path, 'r')
  try {
    for (;;) {
      const { bytesRead } = await file.read(buffer)
      if (bytesRead === 0) return hash.digest('hex')
      hash.update(buffer.subarray(0, bytesRead))
    }
  } finally {
    await file.close()
  }
}

/**
 * Compares the file with the digest file beside it. Returns false when there is none. Throws `UsageError` when it does
 * not match, or cannot be read.
 */
export async function verifyDigest(path: string): Promise<boolean> {
  const line = await readFile(path + DIGEST_END, 'utf8').catch((error: unknown) => {
    if (memberOf(error, 'code') === 'ENOENT') return null
    throw new UsageError(unreadable(path + DIGEST_END, error))
  })
  if (line === null) return false
  if (DIGEST_LINE.exec(line)?.[1] !== (await digestOf(path))) {
    throw new UsageError(`${path} does not match the digest in ${path}.sha256: it is damaged, or it is another file`)
  }
  return true
}
