// Copies the rows of the carried tables from the source to the target and verifies them.
import {
  CARRIED_TABLE_NAMES,
  type CarriedReads,
  type CarriedRow,
  type CarriedTableName,
  keyOfRow,
} from '../store/cutover/carried-tables.ts'
import type { ChangedRow } from '../store/cutover/contract.ts'
import { pagesOf } from '../store/paging/paging.ts'
import { createCopyBatch, MoveError, type Target } from './row-copies.ts'

const ROWS_PER_READ = 1_000

/** Copies all rows. Rows that the source does not have are removed from the target. */
export async function copyRows(source: CarriedReads, target: Target): Promise<void> {
  for (const table of CARRIED_TABLE_NAMES) {
    for await (const page of rowPages(source, table)) {
      await syncRows(table, page, await target.store.carriedRows(table, keysOf(table, page)), target)
    }
    for await (const page of rowPages(target.store, table)) {
      const kept = new Set(keysOf(table, await source.carriedRows(table, keysOf(table, page))))
      const extra = page.filter((row) => !kept.has(keyOfRow(table, row)))
      await syncRows(table, [], extra, target)
    }
  }
}

/** Copies the changed rows. Rows that the source does not have, or no longer has, are removed from the target. */
export async function copyChangedRows(
  changed: readonly ChangedRow[],
  source: CarriedReads,
  target: Target,
): Promise<void> {
  for (const table of CARRIED_TABLE_NAMES) {
    const keys = [...new Set(changed.filter((row) => row.table === table).map(({ key }) => key))]
    for (let start = 0; start < keys.length; start += ROWS_PER_READ) {
      const asked = keys.slice(start, start + ROWS_PER_READ)
      const [wanted, there] = await Promise.all([
        source.carriedRows(table, asked),
        target.store.carriedRows(table, asked),
      ])
      await syncRows(table, wanted, there, target)
    }
  }
}

/** Pages of rows in the order of their keys. */
export function rowPages(source: CarriedReads, table: CarriedTableName): AsyncGenerator<readonly CarriedRow[]> {
  return pagesOf({
    start: '',
    limit: ROWS_PER_READ,
    read: (after, limit) => source.carriedRowsAfter(table, after, limit),
    keyOf: (row) => keyOfRow(table, row),
  })
}

function keysOf(table: CarriedTableName, rows: readonly CarriedRow[]): readonly string[] {
  return rows.map((row) => keyOfRow(table, row))
}

async function syncRows(
  table: CarriedTableName,
  wanted: readonly CarriedRow[],
  there: readonly CarriedRow[],
  target: Target,
): Promise<void> {
  const before = inWords(table, there)
  const kept = new Set(keysOf(table, wanted))
  const dropped = keysOf(table, there).filter((key) => !kept.has(key))
  const changed = wanted.filter((row) => before.get(keyOfRow(table, row)) !== JSON.stringify(row))
  const batch = createCopyBatch(target)
  for (const key of dropped) await batch.put({ type: 'dropRow', table, key })
  for (const row of changed) await batch.put({ type: 'putRow', table, row })
  await batch.flush()
  const after = inWords(table, await target.store.carriedRows(table, [...dropped, ...keysOf(table, changed)]))
  if (after.size !== changed.length || changed.some((row) => after.get(keyOfRow(table, row)) !== JSON.stringify(row))) {
    throw new MoveError(
      `the rows of ${table} are not the same in the source and the target: is something else writing to the target?`,
    )
  }
}

function inWords(table: CarriedTableName, rows: readonly CarriedRow[]): ReadonlyMap<string, string> {
  return new Map(rows.map((row) => [keyOfRow(table, row), JSON.stringify(row)]))
}
