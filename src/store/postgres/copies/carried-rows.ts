// Reads and writes the rows of the tables that a move carries to the next database, in PostgreSQL.
import {
  type CarriedReads,
  type CarriedRow,
  type CarriedTableName,
  type CarriedValue,
  carriedTable,
  columnsOf,
} from '../../cutover/carried-tables.ts'
import type { Query } from '../connection.ts'
import type { Pool } from '../engine/pool.ts'

const ARRAYS = { text: 'text[]', integer: 'bigint[]', boolean: 'boolean[]' } as const

function typeOf(name: CarriedTableName, column: string): 'text' | 'integer' | 'boolean' {
  return carriedTable(name).columns[column] ?? 'text'
}

function select(name: CarriedTableName): string {
  return `select ${columnsOf(name).join(', ')} from workspace_gateway.${name}`
}

function toKey(name: CarriedTableName, key: string): CarriedValue {
  return typeOf(name, carriedTable(name).key) === 'integer' ? Number(key) : key
}

type Row = Readonly<Record<string, CarriedValue>>

function toRow(name: CarriedTableName, row: Row): CarriedRow {
  return columnsOf(name).map((column) => {
    const value = row[column] ?? null
    return typeOf(name, column) === 'boolean' ? value === 't' : value
  })
}

export function createCarriedReads(pool: Pool): CarriedReads {
  return {
    carriedRowsAfter: (name, key, limit) =>
      pool.repeatable(async (connection) => {
        const { key: column } = carriedTable(name)
        const text = `${select(name)} where ${column} > $1 order by ${column} limit $2`
        const statement = { name: `carriedRowsAfter_${name}`, text }
        const rows = await connection.query<Row>(statement, [toKey(name, key), limit])
        return rows.map((row) => toRow(name, row))
      }),
    carriedRows: (name, keys) =>
      pool.repeatable(async (connection) => {
        const { key: column } = carriedTable(name)
        const text = `${select(name)} where ${column} = any($1::${ARRAYS[typeOf(name, column)]})`
        const statement = { name: `carriedRows_${name}`, text }
        const rows = await connection.query<Row>(statement, [keys.map((key) => toKey(name, key))])
        return rows.map((row) => toRow(name, row))
      }),
  }
}

/** Deletes the rows that conflict with the given ones in a unique column, then inserts the given rows. */
export function putQueries(name: CarriedTableName, rows: readonly CarriedRow[]): readonly Query[] {
  const columns = columnsOf(name)
  const { key, alsoUnique } = carriedTable(name)
  const values = columns.map((_, index) => rows.map((row) => row[index] ?? null))
  const given = `unnest(${columns.map((column, index) => `$${index + 1}::${ARRAYS[typeOf(name, column)]}`).join(', ')})`
  const uniques = [[key], ...(alsoUnique ? [alsoUnique] : [])]
  const inTheWay = uniques
    .map((some) => `(${some.map((column) => `t.${column} = given.${column}`).join(' and ')})`)
    .join(' or ')
  return [
    [
      {
        name: `makeRoom_${name}`,
        text: `delete from workspace_gateway.${name} t using ${given} as given (${columns.join(', ')}) where ${inTheWay}`,
      },
      values,
    ],
    [
      {
        name: `putRows_${name}`,
        text: `insert into workspace_gateway.${name} (${columns.join(', ')}) overriding system value select * from ${given}`,
      },
      values,
    ],
  ]
}

export function dropQueries(name: CarriedTableName, keys: readonly string[]): readonly Query[] {
  const { key } = carriedTable(name)
  const text = `delete from workspace_gateway.${name} where ${key} = any($1::${ARRAYS[typeOf(name, key)]})`
  return [[{ name: `dropRows_${name}`, text }, [keys.map((one) => toKey(name, one))]]]
}
