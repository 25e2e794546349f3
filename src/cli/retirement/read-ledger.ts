// The ledger of all gateways for the admin port: read when somebody looks, on a connection of its own.
import type { LedgerTotal } from '../../admin/ledger-page.ts'
import { ledgerRows, ledgerTotals } from '../../rest/ledger/ledger-report.ts'
import { type CommandStoreConfig, openWholeStore } from '../open-store-for-cli.ts'

const DAY_MS = 86_400_000

/** Of so many days until `now`, in milliseconds since the epoch. */
export async function readLedger(
  config: CommandStoreConfig,
  days: number,
  now: number,
): Promise<readonly LedgerTotal[]> {
  await using store = await openWholeStore(config)
  const from = new Date(now - (days - 1) * DAY_MS).toISOString().slice(0, 10)
  return await ledgerTotals(ledgerRows(store, { from, to: null }))
}
