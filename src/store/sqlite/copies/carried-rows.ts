// Reads and writes the rows of carried tables in SQLite.
import type { Database, Statement } from 'better-sqlite3'
import {
  CARRIED_TABLE_NAMES,
  type CarriedReads,
  type CarriedRow,
  type CarriedTableName,
  type CarriedValue,
  carriedTable,
  columnsOf,
} from '../../cutover/carried-tables.ts'
import type { ReadTransaction } from '../engine/read-transaction.ts'

type Value = string | number | null

function isNumber(name: CarriedTableName): boolean {
  const { key, columns } = carriedTable(name)
  return columns[key] === 'integer'
}

function forEachTable<T>(make: (name: CarriedTableName) => T): Readonly<Record<CarriedTableName, T>> {
  return Object.fromEntries(CARRIED_TABLE_NAMES.map((name) => [name, make(name)])) as Record<CarriedTableName, T>
}

export function createCarriedReads(reader: Database, turn: ReadTransaction): CarriedReads {
  const after = forEachTable((name) => {
    const { key } = carriedTable(name)
    const sql = `select ${columnsOf(name).join(', ')} from ${name} where ${key} > ? order by ${key} limit ?`
    return reader.prepare<[Value, number], Value[]>(sql).raw()
  })
  const byKey = forEachTable((name) =>
    reader
      .prepare<[Value], Value[]>(
        `select ${columnsOf(name).join(', ')} from ${name} where ${carriedTable(name).key} = ?`,
      )
      .raw(),
  )
  const toKey = (name: CarriedTableName, key: string) => (isNumber(name) ? Number(key) : key)

  function toRow(name: CarriedTableName, values: readonly Value[]): CarriedRow {
    return Object.values(carriedTable(name).columns).map((type, index): CarriedValue => {
      const value = values[index] ?? null
      return type === 'boolean' ? value === 1 : value
    })
  }

  return {
    carriedRowsAfter(name, key, limit) {
      return turn.readNow(() => after[name].all(toKey(name, key), limit).map((values) => toRow(name, values)))
    },
    carriedRows(name, keys) {
      return turn.readNow(() =>
        keys.flatMap((key) => {
          const values = byKey[name].get(toKey(name, key))
          return values ? [toRow(name, values)] : []
        }),
      )
    },
  }
}

export interface CarriedWrites {
  readonly put: (name: CarriedTableName, row: CarriedRow) => void
  readonly drop: (name: CarriedTableName, key: string) => void
}

/** The returned functions must run within a transaction. */
export function createCarriedWrites(writer: Database): CarriedWrites {
  const put: Readonly<Record<CarriedTableName, Statement<Value[]>>> = forEachTable((name) => {
    const columns = columnsOf(name)
    return writer.prepare(
      `insert or replace into ${name} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`,
    )
  })
  const drop = forEachTable((name) =>
    writer.prepare<[Value]>(`delete from ${name} where ${carriedTable(name).key} = ?`),
  )
  return {
    put(name, row) {
      put[name].run(...row.map((value) => (typeof value === 'boolean' ? Number(value) : value)))
    },
    drop(name, key) {
      // An integer column converts the text to a number before it compares.
      drop[name].run(key)
    },
  }
}
