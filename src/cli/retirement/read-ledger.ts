// Reads the ledger of all gateways for the admin port: on request, through a store opened for that one reading.
import type { LedgerTotal } from '../../admin/ledger-page.ts'
import { ledgerRows, ledgerTotals } from '../../rest/ledger/ledger-report.ts'
import { dayOf } from '../../store/rest-call-contract.ts'
import { type CommandStoreConfig, openWholeStore } from '../open-store-for-cli.ts'

const DAY_MS = 86_400_000

export interface ServedStoreConfig extends CommandStoreConfig {
  /** The database that this one may move to while it is served. */
  readonly databaseNext?: string | undefined
}

/**
 * The totals of the last `days` days until `now` (milliseconds since the epoch). If the database has moved, reads from
 * `databaseNext`.
 */
export async function readLedger(
  config: ServedStoreConfig,
  days: number,
  now: number,
): Promise<readonly LedgerTotal[]> {
  const { databaseNext } = config
  await using store = await openWholeStore(config)
  if (databaseNext !== undefined && (await store.moveState()).phase === 'moved') {
    return await readLedger({ ...config, database: databaseNext, databaseNext: undefined }, days, now)
  }
  const from = dayOf(now - (days - 1) * DAY_MS)
  return await ledgerTotals(ledgerRows(store, { from, to: null }))
}
