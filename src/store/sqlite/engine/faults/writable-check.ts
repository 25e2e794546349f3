// Whether the next write would find room: what tells a balancer to go elsewhere while a disk is full.
import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Database } from 'better-sqlite3'
import { StoreUnavailableError } from '../../../contract.ts'
import type { GroupCommit } from '../group-commit.ts'
import type { FaultLatch } from './fault-latch.ts'

/** Less than a few commits need. */
const MIN_FREE_BYTES = 262_144

/**
 * Rejects while the disk has no room, or while the last look failed and a write that changes nothing still does: quotas, and
 * disks that give out their last blocks to nobody, are not in what the file system says it has.
 */
export function createWritableCheck(
  path: string,
  writer: Database,
  commits: GroupCommit,
  faults: FaultLatch,
): () => Promise<void> {
  const directory = dirname(path)
  let failed = false
  faults.onUnavailable(() => {
    failed = true
  })

  return async () => {
    const { bavail, bsize } = statfsSync(directory)
    if (bavail * bsize < MIN_FREE_BYTES) throw new StoreUnavailableError('the disk of the database is full')
    if (!failed) return
    await commits.add(() => rewriteHeader(writer))
    failed = false
  }
}

/** SQLite leaves out an update that changes nothing, but not this. */
function rewriteHeader(writer: Database): void {
  writer.pragma(`user_version = ${writer.pragma('user_version', { simple: true })}`)
}
