// Starts the background sweeps of a gateway: they remove expired sessions and the staged rows of imports that died.
import type { Logger } from 'pino'
import { dropSomeStale } from '../../import-export/stale-stages.ts'
import type { Store } from '../../store/contract.ts'
import { startSweep } from '../../store/sweep.ts'

/** Sweeps until it is disposed of. */
export function startSweeps(
  store: Pick<Store, 'dropExpiredSessions' | 'dropStaleStages'>,
  clock: () => number,
  log: Logger,
): Disposable {
  const stays = (what: string) => (error: unknown) => log.warn({ err: error }, `${what} for now`)
  const sweeps = new DisposableStack()
  sweeps.use(startSweep(() => store.dropExpiredSessions(clock()), stays('expired sessions could not be removed')))
  sweeps.use(
    startSweep(() => dropSomeStale(store, clock()), stays('data that an import left behind could not be removed')),
  )
  return sweeps
}
