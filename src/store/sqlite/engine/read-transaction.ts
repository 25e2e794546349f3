// Keeps one read transaction per turn of the event loop: cheaper than one per read, and all reads see the same state.
import type { Database } from 'better-sqlite3'
import type { FaultLatch } from './faults/fault-latch.ts'

export interface ReadTransaction {
  /** Ends the open transaction, so that the next read sees everything committed before it. Never throws. */
  readonly refresh: () => void
  /** Runs a read in the transaction of this turn. The first read of the turn begins it. */
  readonly read: <T>(run: () => T) => T
  /** Runs a read on a state no older than this call. */
  readonly readNow: <T>(run: () => T) => T
  /**
   * Runs a read that authenticates the caller, on a state no older than this call. Throws `StoreMovedError` once
   * another database has taken over.
   */
  readonly decide: <T>(run: () => T) => T
  /** Throws `StoreMovedError` once another database has taken over. Call it within a read. */
  readonly assertActive: () => void
}

export function createReadTransaction(
  database: Database,
  faults: FaultLatch,
  assertActive: () => void,
): ReadTransaction {
  const begin = database.prepare('begin')
  const commit = database.prepare('commit')
  const rollback = database.prepare('rollback')

  /** Must not throw: the event loop calls it too, where nobody could catch the error. */
  function refresh(): void {
    if (!database.open || !database.inTransaction) return
    try {
      commit.run()
    } catch (error) {
      // After an unreadable page a transaction may fail to end. The read of that page has thrown already.
      faults.toStoreError(error)
      giveUp()
    }
  }

  function giveUp(): void {
    try {
      if (database.inTransaction) rollback.run()
    } catch (error) {
      faults.toStoreError(error)
    }
  }

  function read<T>(run: () => T): T {
    return faults.guard(() => {
      if (!database.inTransaction) {
        begin.run()
        // Microtasks and ticks of this turn run before immediates, so they still read the same state.
        setImmediate(refresh)
      }
      return run()
    })
  }

  function readNow<T>(run: () => T): T {
    refresh()
    return read(run)
  }

  return {
    refresh,
    read,
    readNow,
    assertActive,
    decide(run) {
      return readNow(() => {
        assertActive()
        return run()
      })
    },
  }
}
