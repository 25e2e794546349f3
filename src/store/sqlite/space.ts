// The size of an SQLite file, and what is left in it of rows that were removed.
import type { Database } from 'better-sqlite3'
import type { WorkspaceEdits } from '../workspace-edits.ts'
import { isBusy } from './connection.ts'
import type { GroupCommit } from './engine/group-commit.ts'

/** Pages of one call, so that it holds the write lock only briefly. */
const PAGES_PER_CALL = 500
const INCREMENTAL = 2

type SpaceVerbs = Pick<WorkspaceEdits, 'reclaimSpace' | 'flushRemovals'>

export function createSpace(writer: Database, commits: GroupCommit): SpaceVerbs {
  const number = (pragma: string) => Number(writer.pragma(pragma, { simple: true }))

  /** False when a reader, or another writer, is in the way. */
  function truncateLog(): boolean {
    try {
      const [row] = writer.pragma('wal_checkpoint(TRUNCATE)') as readonly { readonly busy: number }[]
      return row?.busy === 0
    } catch (error) {
      if (isBusy(error)) return false
      throw error
    }
  }

  return {
    async reclaimSpace() {
      if (number('auto_vacuum') === INCREMENTAL) {
        await commits.write(() => writer.pragma(`incremental_vacuum(${PAGES_PER_CALL})`))
        truncateLog()
      }
      const pageSize = number('page_size')
      const unused = number('auto_vacuum') === INCREMENTAL ? number('freelist_count') : 0
      return { byteLength: number('page_count') * pageSize, reclaimableBytes: unused * pageSize }
    },
    async flushRemovals() {
      await commits.settled()
      return truncateLog()
    },
  }
}
