// A file gets its name only when it is whole and on the disk: no backup, and no dump, is seen before.
import { createHash, randomUUID } from 'node:crypto'
import { link, lstat, open, readFile, rename, rm } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { MachineError, reasonOf, UsageError } from '../../errors.ts'

const READ_BYTES = 262_144
/** Of `sha256sum`, which begins it with a backslash where the name has a character that it escapes. */
const DIGEST_LINE = /^\\?([0-9a-f]{64}) [ *]/
/** What SQLite leaves beside a database that it could not write to its end. */
const SQLITE_ENDS = ['-wal', '-shm', '-journal']
const DIGEST_END = '.sha256'
const PART = /^(.+)\.[0-9a-f]{8}\.part$/
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r' }

/** Throws `UsageError` when that is no name, or there is something of it. */
export async function requireFree(path: string): Promise<void> {
  if (path === '') throw new UsageError('name a file for the backup')
  if (await isTaken(path)) throw new UsageError(takenMessage(path))
}

/** Also by a link that leads nowhere: it is not written over either. */
export async function isTaken(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null
}

export function takenMessage(path: string): string {
  return `${path} is there already, and is not written over`
}

/**
 * Answers the digest. Makes the file under another name in the same folder, its owner's alone; whatever happens, under
 * `path` there is nothing or the whole. Its digest lies beside it, as `sha256sum -c` reads it. Of several that make a file of one
 * name, one does, and the others throw `MachineError` and change nothing of it.
 */
export async function publishFile(path: string, fill: (part: string) => Promise<void>): Promise<string> {
  if (await isTaken(path)) throw new MachineError(takenMessage(path))
  const part = partOf(path)
  await (await openPart(part)).close()
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

/** The name that a file has until it is whole, in the same folder. */
export function partOf(path: string): string {
  return `${path}.${randomUUID().slice(0, 8)}.part`
}

/** The name that a part, or what lies beside it, would have got; null for any other file. */
export function wholeNameOf(name: string): string | null {
  const end = [DIGEST_END, ...SQLITE_ENDS].find((end) => name.endsWith(end)) ?? ''
  return PART.exec(name.slice(0, name.length - end.length))?.[1] ?? null
}

/** With what SQLite leaves beside it. */
export async function removeParts(part: string): Promise<void> {
  // A name that is too long with this end is no file's.
  for (const end of ['', ...SQLITE_ENDS]) await rm(part + end, { force: true }).catch(() => {})
}

/** Of the disk, a folder, or the rights: it says itself what would help. */
function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error
}

/** The process that links the file under its name has won. No other may write the digest, which may be the winner's. */
async function publishPair(path: string, part: string, digestPart: string): Promise<void> {
  // Before the file, which is never seen without one. With one that was left there, it is refused until that is replaced.
  if (!(await isTaken(path))) await linkNew(digestPart, path + DIGEST_END)
  // Not a rename: that would write over what has come there meanwhile.
  if (!(await linkNew(part, path))) throw new MachineError(takenMessage(path))
  await rename(digestPart, path + DIGEST_END)
  await syncPath(dirname(path))
}

/** False where there is something of that name. */
export async function linkNew(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function openPart(part: string) {
  return open(part, 'wx', 0o600).catch((error: Error) => {
    throw new UsageError(`cannot write ${part}: ${error.message}`)
  })
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

/** What was written under this name, and a file's own name in its folder, outlive the power. */
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
  // One piece of memory for all of it: of gigabytes, a stream would leave as much to be collected, with every processor there is.
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

/** Throws `UsageError` when the digest that lies beside the file is another one, or cannot be read. */
export async function requireDigest(path: string): Promise<void> {
  const line = await readFile(path + DIGEST_END, 'utf8').catch((error: unknown) => {
    if (Reflect.get(Object(error), 'code') === 'ENOENT') return null
    throw new UsageError(`cannot read ${path}.sha256: ${reasonOf(error)}`)
  })
  if (line === null) return
  if (DIGEST_LINE.exec(line)?.[1] !== (await digestOf(path))) {
    throw new UsageError(`${path} does not have the digest of ${path}.sha256: it is damaged, or another file`)
  }
}
