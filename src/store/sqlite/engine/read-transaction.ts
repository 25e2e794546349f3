// One read transaction per turn of the event loop: cheaper than one per read, and one consistent state for all of them.
import type { Database } from 'better-sqlite3'
import type { FaultLatch } from './faults/fault-latch.ts'

export interface ReadTransaction {
  /** Ends the transaction that is open, so that the next read sees everything committed before it. Never throws. */
  readonly refresh: () => void
  /** Runs a read inside the transaction of this turn, which the first read of the turn begins. */
  readonly read: <T>(run: () => T) => T
  /** Runs a read on a state no older than this call. */
  readonly readNow: <T>(run: () => T) => T
  /** Runs a read that decides who is asking: on a state no older than this call, and only while nobody else has taken over. */
  readonly decide: <T>(run: () => T) => T
  /** Within a read: throws once another database has taken over. */
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

  /** Called by the event loop too, where nobody could catch what it throws. */
  function refresh(): void {
    if (!database.open || !database.inTransaction) return
    try {
      commit.run()
    } catch (error) {
      // After a page that cannot be read, a transaction may refuse to end; the read of that page has thrown already.
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
        // Promise jobs and ticks of this turn run before immediates do: they still read the same state.
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
