// One read transaction per turn of the event loop: cheaper than one per read, and one consistent state for all of them.
import type { Database } from 'better-sqlite3'

export interface TurnReader {
  /** Ends the transaction that is open, so that the next read sees everything committed before it. */
  readonly refresh: () => void
  /** Runs a read inside the transaction of this turn, which the first read of the turn begins. */
  readonly read: <T>(run: () => T) => T
}

export function createTurnReader(database: Database): TurnReader {
  const begin = database.prepare('begin')
  const commit = database.prepare('commit')

  function refresh(): void {
    if (database.open && database.inTransaction) commit.run()
  }

  return {
    refresh,
    read(run) {
      if (!database.inTransaction) {
        begin.run()
        // Promise jobs and ticks of this turn run before immediates do: they still read the same state.
        setImmediate(refresh)
      }
      return run()
    },
  }
}
