// Checks whether the next write would find room, so that a load balancer routes around a gateway whose disk is full.
import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Database } from 'better-sqlite3'
import { StoreFullError } from '../../../contract.ts'
import type { GroupCommit } from '../group-commit.ts'
import type { FaultLatch } from './fault-latch.ts'

/** Minimum free space, in bytes. A few commits need more. */
const MIN_FREE_BYTES = 262_144

/**
 * The returned check rejects while the disk is full. After a transient fault it also rejects until a write that changes
 * nothing succeeds: the reported free space does not account for quotas or for blocks that the disk never hands out.
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
    if (bavail * bsize < MIN_FREE_BYTES) throw new StoreFullError()
    if (!failed) return
    await commits.add(() => rewriteHeader(writer))
    failed = false
  }
}

/** A write that changes nothing. SQLite would skip an UPDATE without a change, but not this. */
function rewriteHeader(writer: Database): void {
  writer.pragma(`user_version = ${writer.pragma('user_version', { simple: true })}`)
}
