// Measures an SQLite file, and reclaims the space of removed rows.
import type { Database } from 'better-sqlite3'
import type { Space, WorkspaceEdits } from '../workspace-edits.ts'
import { type Checkpoints, VACUUM_IN_PIECES } from './connection.ts'
import type { FaultLatch } from './engine/faults/fault-latch.ts'
import { isBusy } from './engine/faults/sqlite-errors.ts'
import { whileLocked } from './engine/faults/while-locked.ts'
import type { GroupCommit } from './engine/group-commit.ts'
import { rewriteFile } from './engine/rewrite-file.ts'

/** Maximum number of pages per call, so that it holds the write lock only briefly. */
const PAGES_PER_CALL = 500
const INCREMENTAL = 2

type SpaceVerbs = Pick<WorkspaceEdits, 'space' | 'reclaimSpace' | 'rewrite' | 'flushRemovals'>

interface SpaceOptions {
  readonly faults: FaultLatch
  readonly lockTimeoutMs: number
  readonly checkpoints?: Checkpoints
}

export function createSpace(
  writer: Database,
  commits: GroupCommit,
  { faults, lockTimeoutMs, checkpoints = 'own' }: SpaceOptions,
): SpaceVerbs {
  const number = (pragma: string) => Number(writer.pragma(pragma, { simple: true }))

  /** Returns false if a reader or another writer prevents it. */
  function truncateLog(): boolean {
    try {
      const [row] = writer.pragma('wal_checkpoint(TRUNCATE)') as readonly { readonly busy: number }[]
      return row?.busy === 0
    } catch (error) {
      if (isBusy(error)) return false
      throw faults.toStoreError(error)
    }
  }

  const isIncremental = () => number('auto_vacuum') === INCREMENTAL

  function space(): Space {
    const pageSize = number('page_size')
    const unusedBytes = number('freelist_count') * pageSize
    return {
      byteLength: number('page_count') * pageSize,
      unusedBytes,
      reclaimableBytes: isIncremental() ? unusedBytes : 0,
    }
  }

  return {
    space: () => faults.guard(space),
    async reclaimSpace() {
      if (isIncremental()) await commits.write(() => writer.pragma(`incremental_vacuum(${PAGES_PER_CALL})`))
      return faults.guard(space)
    },
    async rewrite() {
      // VACUUM cannot run in a transaction. This empty write checks that writes are admitted at all.
      await commits.write(() => {})
      const rewriting = whileLocked(lockTimeoutMs, () => {
        // Converts a file that was created before incremental vacuum was enabled.
        writer.pragma(VACUUM_IN_PIECES)
        rewriteFile(writer)
      })
      await faults.guardAsync(rewriting)
    },
    async flushRemovals() {
      if (checkpoints === 'external') return 'external'
      await commits.settled()
      return truncateLog() ? 'flushed' : 'inUse'
    },
  }
}
