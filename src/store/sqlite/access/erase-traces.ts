// Erases deleted texts from the database files: SQLite leaves them in the WAL, and may leave them in free space.
import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from 'better-sqlite3'
import { StoreUnavailableError } from '../../contract.ts'
import type { Checkpoints } from '../connection.ts'
import { whileLocked } from '../engine/faults/while-locked.ts'
import { rewriteFile } from '../engine/rewrite-file.ts'

/** Length of the pieces in which a text is searched for, since it may span several pages. */
const PIECE_LENGTH = 32
const READ_BYTES = 1_048_576
const RETRY_MS = 10

/** Resolves when no database file contains a piece of a `gone` text that is not also a piece of a `kept` text. */
export type EraseTraces = (gone: readonly string[], kept: readonly string[]) => Promise<void>

/**
 * The write that deleted the texts ran with `secure_delete`. Waits for reads of the WAL and writes by other processes
 * to end, each for at most `lockTimeoutMs`. If a page was once split, its other half may still contain a copy; the file
 * is then rewritten with VACUUM.
 */
export function createEraseTraces(
  writer: Database,
  path: string,
  lockTimeoutMs: number,
  checkpoints: Checkpoints = 'own',
): EraseTraces {
  /**
   * Descriptor that stays open until the process ends: closing it would drop SQLite's own locks on the file
   * (https://www.sqlite.org/howtocorrupt.html, section 2.2).
   */
  let database: number | null = null

  function isInDatabase(needles: readonly Buffer[]): boolean {
    database ??= openSync(path, 'r')
    return holdsAny(database, needles)
  }

  async function emptyWal(): Promise<void> {
    const giveUpAt = performance.now() + lockTimeoutMs
    while (writer.pragma('wal_checkpoint(TRUNCATE)', { simple: true }) !== 0) {
      if (performance.now() > giveUpAt) {
        throw new StoreUnavailableError('the write-ahead log could not be emptied: another process is reading from it')
      }
      await delay(RETRY_MS)
    }
  }

  return async (gone, kept) => {
    const pieces = gone.flatMap(piecesOf).filter((piece) => !kept.some((text) => text.includes(piece)))
    if (pieces.length === 0) return
    // A checkpoint here would discard log frames that the other program has not read yet.
    if (checkpoints === 'external') {
      throw new StoreUnavailableError('checkpoints are left to another program, which has to make one first')
    }
    await emptyWal()
    const needles = pieces.map((piece) => Buffer.from(piece))
    if (!isInDatabase(needles) && !isInLog(`${path}-wal`, needles)) return
    await whileLocked(lockTimeoutMs, () => rewriteFile(writer))
    await emptyWal()
  }
}

function piecesOf(text: string): readonly string[] {
  const count = Math.ceil(text.length / PIECE_LENGTH)
  return Array.from({ length: count }, (_, index) =>
    text.slice(index * PIECE_LENGTH, (index + 1) * PIECE_LENGTH),
  ).filter((piece) => piece.length === PIECE_LENGTH)
}

function isInLog(file: string, needles: readonly Buffer[]): boolean {
  if (!existsSync(file)) return false
  const descriptor = openSync(file, 'r')
  try {
    return holdsAny(descriptor, needles)
  } finally {
    closeSync(descriptor)
  }
}

function holdsAny(descriptor: number, needles: readonly Buffer[]): boolean {
  const buffer = Buffer.alloc(READ_BYTES + PIECE_LENGTH)
  // Consecutive reads overlap by the length of a piece, because a piece may span two of them.
  for (let position = 0; ; position += READ_BYTES) {
    const length = readSync(descriptor, buffer, 0, buffer.length, position)
    if (length === 0) return false
    const read = buffer.subarray(0, length)
    if (needles.some((needle) => read.includes(needle))) return true
  }
}
