// Whether the files of an open database are still the ones with its name: SQLite goes on writing into files that were deleted.
import { type BigIntStats, closeSync, openSync, readSync, statSync } from 'node:fs'

/** Where the header of an SQLite file says how large it is (https://www.sqlite.org/fileformat.html#the_database_header). */
const HEADER = { byteLength: 100, pageSizeAt: 16, pageCountAt: 28 } as const

export interface DatabaseFiles {
  /**
   * Throws when a file was deleted or replaced, or the database is shorter than it says. Cheap enough to be asked before
   * every acknowledgement: two `stat`.
   */
  readonly assertInPlace: () => void
}

/** To be called while the database is open in WAL mode, so that both files are there. */
export function watchDatabaseFiles(path: string): DatabaseFiles {
  const files = [path, `${path}-wal`].map((name) => ({ name, before: statOf(name) }))
  let lastSize = files[0]?.before?.size ?? 0n

  function assertSame(name: string, before: BigIntStats | undefined): bigint {
    const now = statOf(name)
    if (!now) throw new Error(`${name} was deleted while it was in use`)
    if (before && (now.ino !== before.ino || now.dev !== before.dev)) {
      throw new Error(`${name} was replaced by another file while it was in use`)
    }
    return now.size
  }

  return {
    assertInPlace() {
      for (const file of files) {
        const size = assertSame(file.name, file.before)
        file.before ??= statOf(file.name)
        if (file.name !== path || size === lastSize) continue
        // VACUUM makes a file smaller too, and says so in its header.
        if (size < lastSize && size < sizeInHeader(path)) throw new Error(`${path} was cut short while it was in use`)
        lastSize = size
      }
    },
  }
}

function statOf(path: string): BigIntStats | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })
}

/** What the file itself says; more than any file when not even that can be read. */
function sizeInHeader(path: string): bigint {
  const header = Buffer.alloc(HEADER.byteLength)
  const file = openSync(path, 'r')
  try {
    if (readSync(file, header, 0, HEADER.byteLength, 0) < HEADER.byteLength) return 2n ** 63n
  } finally {
    closeSync(file)
  }
  const pageSize = header.readUInt16BE(HEADER.pageSizeAt)
  return BigInt(header.readUInt32BE(HEADER.pageCountAt)) * BigInt(pageSize === 1 ? 65_536 : pageSize)
}
