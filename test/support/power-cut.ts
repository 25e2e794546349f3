// Cuts the power under an SQLite database: none of the unsynced writes reaches the disk, or a random selection of them does.
import { closeSync, existsSync, fsyncSync, ftruncateSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import type { SeededRandom } from './seeded-random.ts'

/** What a disk writes atomically: a write that is in progress at the cut is kept up to a multiple of this. */
const SECTOR_BYTES = 512
/**
 * `offset`, the sizes before and after, the lengths of the bytes before and after: 64 bits each, as
 * `power-cut-library.c` writes them.
 */
const HEADER_BYTES = 40
const FILES = ['', '-wal', '-journal']

interface Change {
  readonly offset: number
  readonly sizeBefore: number
  readonly sizeAfter: number
  readonly before: Buffer
  readonly after: Buffer
}

/**
 * Takes back what the library noted as not synced; every process that wrote to the database must have ended. Returns
 * how many writes were lost.
 */
export function cutPower(path: string, random: SeededRandom): number {
  const keepsSome = random.below(2) === 0
  let lost = 0
  for (const suffix of FILES) {
    const notes = `${path}${suffix}.unsynced`
    if (!existsSync(notes)) continue
    const changes = readChanges(readFileSync(notes))
    if (changes.length > 0 && existsSync(path + suffix)) {
      const kept = changes.filter(() => keepsSome && random.below(2) === 0)
      takeBack(path + suffix, changes, kept, random)
      lost += changes.length - kept.length
    }
    rmSync(notes)
  }
  // The index of the log is never synced, so it may be missing or as it was.
  if (random.below(2) === 0) rmSync(`${path}-shm`, { force: true })
  return lost
}

/** An incomplete last note belongs to a write that did not begin. */
function readChanges(notes: Buffer): readonly Change[] {
  const changes: Change[] = []
  for (let at = 0; at + HEADER_BYTES <= notes.length; ) {
    const [offset = 0, sizeBefore = 0, sizeAfter = 0, oldLength = 0, newLength = 0] = Array.from(
      { length: HEADER_BYTES / 8 },
      (_, field) => Number(notes.readBigUInt64LE(at + field * 8)),
    )
    const [middle, end] = [at + HEADER_BYTES + oldLength, at + HEADER_BYTES + oldLength + newLength]
    if (end > notes.length) break
    const [before, after] = [notes.subarray(at + HEADER_BYTES, middle), notes.subarray(middle, end)]
    changes.push({ offset, sizeBefore, sizeAfter, before, after })
    at = end
  }
  return changes
}

function takeBack(file: string, changes: readonly Change[], kept: readonly Change[], random: SeededRandom): void {
  const descriptor = openSync(file, 'r+')
  for (const { offset, sizeBefore, before } of changes.toReversed()) {
    writeSync(descriptor, before, 0, before.length, offset)
    ftruncateSync(descriptor, sizeBefore)
  }
  for (const { offset, sizeAfter, after } of kept) {
    if (after.length === 0) ftruncateSync(descriptor, sizeAfter)
    const isTorn = random.below(4) === 0
    const length = isTorn ? random.below(Math.ceil(after.length / SECTOR_BYTES) + 1) * SECTOR_BYTES : after.length
    writeSync(descriptor, after, 0, Math.min(length, after.length), offset)
  }
  fsyncSync(descriptor)
  closeSync(descriptor)
}
