// Writes a whole SQLite database as SQL, as `.dump` does.
import Database from 'better-sqlite3'

export function sqliteScript(file: string): string {
  const database = new Database(file, { readonly: true })
  const all = database
    .prepare<[], { readonly type: string; readonly name: string; readonly sql: string }>(
      `select type, name, sql from sqlite_master where sql is not null order by type = 'trigger', rowid`,
    )
    .all()
  const tables = all.filter(({ type, name }) => type === 'table' && !name.startsWith('sqlite_'))
  const hasSequence = all.some(({ name }) => name === 'sqlite_sequence')
  const rows = [...tables.map(({ name }) => name), ...(hasSequence ? ['sqlite_sequence'] : [])].flatMap((table) =>
    rowsOf(database, table),
  )
  const pragmas = ['application_id', 'user_version'].map(
    (name) => `pragma ${name} = ${database.pragma(name, { simple: true })};`,
  )
  const others = all.filter(({ type }) => type === 'index' || type === 'trigger')
  return [
    ...pragmas,
    ...tables.map(({ sql }) => `${sql};`),
    ...(hasSequence ? ['delete from sqlite_sequence;'] : []),
    ...rows,
    ...others.map(({ sql }) => `${sql};`),
  ].join('\n')
}

function rowsOf(database: Database.Database, table: string): readonly string[] {
  const columns = database.prepare<[string], string>('select name from pragma_table_info(?)').pluck().all(table)
  const list = columns.map((column) => `quote("${column}")`).join(` || ', ' || `)
  const values = database.prepare<[], string>(`select ${list} from "${table}"`).pluck().all()
  return values.map((row) => `insert into "${table}" (${columns.join(', ')}) values (${row});`)
}
