// Checks that the write-ahead log of an open database still contains every committed frame, even after somebody
// truncated it and SQLite continued to write.
import { closeSync, openSync, readSync } from 'node:fs'
import { StoreUnavailableError } from '../../../contract.ts'

/** Layout of the write-ahead log: https://www.sqlite.org/walformat.html */
const HEADER_BYTES = 32
const SALTS_AT = 16
const HEADER_SUMS_AT = 24
const FRAME_HEADER_BYTES = 24
const FRAME_SALTS_AT = 8
const FRAME_SUMS_AT = 16
const SALTS_BYTES = 8
/** Number of bytes of a frame header that its checksum covers. */
const SUMMED_FRAME_HEADER_BYTES = 8

const FRAMES_PER_READ = 32
/**
 * Maximum number of retries: the log may be restarted during a look, and SQLite does not report its length at the
 * moment at which it changes it.
 */
const MAX_LOOKS = 1_000

export interface CommittedLog {
  /**
   * False if a committed frame is no longer in the file. Reads only what was added since the last call. Throws
   * `StoreUnavailableError` if it cannot tell at the moment.
   */
  readonly isWhole: () => boolean
  /** May be called more than once. */
  readonly close: () => void
}

type Sums = readonly [number, number]

interface Seen {
  /** Header of the log file in hexadecimal. It changes each time SQLite restarts the log. */
  readonly header: string
  /** Number of verified frames, and the running checksum before the last of them. */
  readonly frames: number
  readonly before: Sums
}

/**
 * `committedFrames` returns how many frames SQLite has committed, or null if it cannot tell. Unlike the database file,
 * the log may be opened and closed independently of SQLite, which holds no lock on it.
 */
export function openCommittedLog(name: string, pageSize: number, committedFrames: () => number | null): CommittedLog {
  const file = openSync(name, 'r')
  const frameBytes = FRAME_HEADER_BYTES + pageSize
  const header = Buffer.alloc(HEADER_BYTES)
  const frames = Buffer.alloc(FRAMES_PER_READ * frameBytes)
  const view = new DataView(frames.buffer, frames.byteOffset, frames.byteLength)
  let isClosed = false
  let seen: Seen = { header: '', frames: 0, before: [0, 0] }

  const readHeader = () => header.toString('hex', 0, readSync(file, header, 0, HEADER_BYTES, 0))

  /** Returns the new state if all frames are intact; null if one is missing. */
  function look(found: string, committed: number): Seen | null {
    let before: Sums = [header.readInt32BE(HEADER_SUMS_AT), header.readInt32BE(HEADER_SUMS_AT + 4)]
    let next = 1
    if (found === seen.header) {
      if (committed < seen.frames) return null
      // Verify the last frame again: a truncation removes the end of what was there.
      if (seen.frames > 0) [next, before] = [seen.frames, seen.before]
    }
    let beforeLast = before
    while (next <= committed) {
      const count = Math.min(FRAMES_PER_READ, committed - next + 1)
      const length = count * frameBytes
      if (readSync(file, frames, 0, length, HEADER_BYTES + (next - 1) * frameBytes) < length) return null
      for (let at = 0; at < length; at += frameBytes) {
        if (!isIntact(at, before)) return null
        beforeLast = before
        before = [view.getInt32(at + FRAME_SUMS_AT), view.getInt32(at + FRAME_SUMS_AT + 4)]
      }
      next += count
    }
    return { header: found, frames: committed, before: beforeLast }
  }

  function isIntact(at: number, before: Sums): boolean {
    const salts = at + FRAME_SALTS_AT
    if (header.compare(frames, salts, salts + SALTS_BYTES, SALTS_AT, SALTS_AT + SALTS_BYTES) !== 0) return false
    // After a truncation, zeros fill the file up to where the next write began. A frame whose header and page both end
    // with a nonzero byte is not in such a hole, so it needs no checksum.
    if (frames[at + FRAME_HEADER_BYTES - 1] !== 0 && frames[at + frameBytes - 1] !== 0) return true
    const isLittleEndian = (header.readUInt32BE(0) & 1) === 0
    const start = addSums(view, before, [at, at + SUMMED_FRAME_HEADER_BYTES], isLittleEndian)
    const sums = addSums(view, start, [at + FRAME_HEADER_BYTES, at + frameBytes], isLittleEndian)
    return sums[0] === view.getInt32(at + FRAME_SUMS_AT) && sums[1] === view.getInt32(at + FRAME_SUMS_AT + 4)
  }

  return {
    isWhole() {
      for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
        // Read the header first: SQLite writes it before it commits a frame after it.
        const found = readHeader()
        const committed = committedFrames()
        if (committed === null) continue
        if (committed === 0) return true
        const now = look(found, committed)
        if (now) {
          seen = now
          return true
        }
        if (readHeader() === found) return false
      }
      throw new StoreUnavailableError('the write-ahead log of the database keeps changing')
    },
    close() {
      // Close only once: another file may have the descriptor by now.
      if (!isClosed) closeSync(file)
      isClosed = true
    },
  }
}

/** Continues the checksum of SQLite's log over a range of bytes. */
function addSums(
  view: DataView,
  [before0, before1]: Sums,
  [from, to]: readonly [number, number],
  isLittleEndian: boolean,
): Sums {
  let [sum0, sum1] = [before0, before1]
  for (let at = from; at < to; at += 8) {
    sum0 = (sum0 + view.getInt32(at, isLittleEndian) + sum1) | 0
    sum1 = (sum1 + view.getInt32(at + 4, isLittleEndian) + sum0) | 0
  }
  return [sum0, sum1]
}
