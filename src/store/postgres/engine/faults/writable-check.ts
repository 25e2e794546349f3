// Checks whether the next write would find disk space, so that a load balancer can avoid the gateway while the disk is
// full.
import type { Pool } from '../pool.ts'
import { isRightMissing } from './pg-errors.ts'

/** Rows too short to be compressed, in a new file without free pages; more space than a few commits need. */
const TAKE_ROOM = `create table workspace_gateway.room_check as
  select repeat('x', 1900) as filler from generate_series(1, 136)`

/**
 * After a statement failed because the disk is full, the check rejects until as much as a few commits need can be
 * written again. It writes in a transaction that is rolled back, so nobody sees it. The server cannot report its free
 * space, and a small write may fit into a page that it already has.
 */
export function createWritableCheck(pool: Pool): () => Promise<void> {
  let failed = false
  let inFlight: Promise<void> | null = null
  pool.onDiskFull(() => {
    failed = true
  })

  async function takeRoom(): Promise<void> {
    try {
      await pool.write(async (connection) => {
        await connection.begin()
        try {
          await connection.script(TAKE_ROOM)
        } finally {
          if (!connection.isLost()) await connection.rollback().catch(() => connection.close())
        }
      })
    } catch (error) {
      // A role that may not create tables cannot check. The next write reveals the fault.
      if (!isRightMissing(error)) throw error
    }
    failed = false
  }

  return async () => {
    if (!failed) return
    inFlight ??= takeRoom().finally(() => {
      inFlight = null
    })
    await inFlight
  }
}
