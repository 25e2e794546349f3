// Starts the background sweeps of a gateway: they remove expired sessions and the staged rows of imports that died.
import type { Logger } from 'pino'
import { dropSomeStale } from '../../import-export/stale-stages.ts'
import type { Store } from '../../store/contract.ts'
import { CLOCKS_DIFFER_MS } from '../../store/session-contract.ts'
import { startSweep } from '../../store/sweep.ts'

/** Sweeps until it is disposed of. */
export function startSweeps(
  store: Pick<Store, 'dropExpiredSessions' | 'dropStaleStages' | 'earlierTime'>,
  clock: () => number,
  log: Logger,
): Disposable {
  const stays = (what: string) => (error: unknown) => log.warn({ err: error }, `${what} for now`)
  let wasAhead = false

  /** Warns once when this clock begins to be ahead: another gateway notices it only by tokens that this one issues. */
  async function removalTime(): Promise<number> {
    const now = clock()
    const time = await store.earlierTime(now)
    const isAhead = now - time > CLOCKS_DIFFER_MS
    const aheadSeconds = Math.round((now - time) / 1_000)
    if (isAhead && !wasAhead) {
      log.warn(
        { aheadSeconds },
        'the clock of this machine is ahead of that of the database server, which decides what is old',
      )
    }
    wasAhead = isAhead
    return time
  }

  const sweeps = new DisposableStack()
  sweeps.use(
    startSweep(
      async () => store.dropExpiredSessions(await removalTime()),
      stays('expired sessions could not be removed'),
    ),
  )
  sweeps.use(
    startSweep(
      async () => dropSomeStale(store, await removalTime()),
      stays('data that an import left behind could not be removed'),
    ),
  )
  return sweeps
}
