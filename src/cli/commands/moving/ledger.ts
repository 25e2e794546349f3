// ledger: reports which clients still call which REST route, and the GraphQL twin of each route.
import { UsageError } from '../../../errors.ts'
import { type LedgerRow, ledgerRows, ledgerTotals } from '../../../rest/ledger/ledger-report.ts'
import type { CommandIo, ExitCode } from '../../io.ts'
import { openStoreToRead } from '../../open-store-for-cli.ts'
import type { LedgerCommandConfig } from '../../options/retirement/ledger-options.ts'
import { writeLine } from '../../write-line.ts'

/** Throws `UsageError` for an empty period: its report would look as if nobody called any more. */
export async function runLedger(config: LedgerCommandConfig, io: CommandIo): Promise<ExitCode> {
  const { stdout } = io
  const { from = null, to = null } = config
  if (from !== null && to !== null && from >= to) throw new UsageError('--from: must be before --to')
  await using store = await openStoreToRead(config, io)
  const rows = ledgerRows(store, { from, to })
  if (config.json) {
    for await (const row of rows) {
      await writeLine(stdout, JSON.stringify({ ...row, lastSeen: new Date(row.lastSeen).toISOString() }))
    }
    return 0
  }
  const totals = await ledgerTotals(rows)
  if (totals.length === 0) await writeLine(stdout, 'no REST calls were counted in this period')
  for (const [route, clients] of Map.groupBy(totals, (total) => total.route)) {
    await writeLine(stdout, `${route}   ${clients[0]?.twin ?? ''}`)
    for (const line of table(clients)) await writeLine(stdout, line)
  }
  return 0
}

function table(clients: readonly Omit<LedgerRow, 'day'>[]): readonly string[] {
  const width = Math.max(...clients.map(({ client }) => client.length))
  const countWidth = Math.max(...clients.map(({ count }) => String(count).length))
  return clients.map(
    ({ client, count, lastSeen }) =>
      `  ${client.padEnd(width)}  ${String(count).padStart(countWidth)}  last ${new Date(lastSeen).toISOString().slice(0, 19)}Z`,
  )
}
