// Whether the next write would find room: what tells a balancer to go elsewhere while a disk is full.
import type { Pool } from '../pool.ts'
import { isRightMissing } from './pg-errors.ts'

/** Rows that are too short to be compressed, in a file that has no free page yet; more than a few commits need. */
const TAKE_ROOM = `create table workspace_gateway.room_check as
  select repeat('x', 1900) as filler from generate_series(1, 136)`

/**
 * Rejects once a statement found no room, until as much as a few commits need can be written again. It is taken back: nobody
 * sees it. The server cannot be asked how much room it has, and a small write may fit into a page that it has already.
 */
export function createWritableCheck(pool: Pool): () => Promise<void> {
  let failed = false
  let underWay: Promise<void> | null = null
  pool.onDiskFull(() => {
    failed = true
  })

  async function takeRoom(): Promise<void> {
    try {
      await pool.once(async (connection) => {
        await connection.begin()
        try {
          await connection.script(TAKE_ROOM)
        } finally {
          if (!connection.isLost()) await connection.rollback().catch(() => connection.close())
        }
      })
    } catch (error) {
      // A role that may not create tables learns of the fault from its next write.
      if (!isRightMissing(error)) throw error
    }
    failed = false
  }

  return async () => {
    if (!failed) return
    underWay ??= takeRoom().finally(() => {
      underWay = null
    })
    await underWay
  }
}
