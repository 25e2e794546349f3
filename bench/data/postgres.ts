// Copies the benchmark data from SQLite to a PostgreSQL of its own: users, documents, sessions and keys.
import Database from 'better-sqlite3'
import { Client } from 'pg'
import { startPostgres, unpackPostgres } from '../../test/support/postgres-server.ts'
import type { Machine } from '../machine.ts'
import { startGateway } from '../servers/start.ts'
import type { SignedIn, Workspace } from './workspaces.ts'

export interface PostgresWorkspace extends AsyncDisposable {
  readonly databaseUrl: string
  /** The users of the SQLite database. Their tokens are valid on both. */
  readonly users: readonly SignedIn[]
}

/**
 * The copied tables, with the type of each column. Exports are left out, because no row of the benchmark reads them.
 */
const TABLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  user: { id: 'bigint', email: 'text' },
  signing_key: { kid: 'text', private_jwk: 'text', created_at: 'bigint' },
  session: {
    id: 'text',
    email: 'text',
    refresh_hash: 'bytea',
    created_at: 'bigint',
    idle_expires_at: 'bigint',
    expires_at: 'bigint',
  },
  document: { user_id: 'bigint', kind: 'text', position: 'integer', id: 'text', ref: 'text', text: 'text' },
}
const ROWS_PER_STATEMENT = 5_000

export async function preparePostgres(machine: Machine, { database, users }: Workspace): Promise<PostgresWorkspace> {
  await using started = new AsyncDisposableStack()
  const binaries = started.use(await unpackPostgres())
  const server = started.use(await startPostgres(binaries, { settings: { shared_buffers: '256MB' } }))
  const databaseUrl = server.url('postgres')
  {
    await using _ = await startGateway(machine, databaseUrl)
  }
  await copyTables(database, databaseUrl)
  const owned = started.move()
  return { databaseUrl, users, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

async function copyTables(path: string, databaseUrl: string): Promise<void> {
  const from = new Database(path, { readonly: true })
  const to = new Client({ connectionString: databaseUrl })
  await to.connect()
  // The gateway that created the tables has also created a signing key.
  await to.query('delete from workspace_gateway.signing_key')
  for (const [table, columns] of Object.entries(TABLES)) {
    const names = Object.keys(columns)
    // In SQLite the position is part of the row id.
    const read = names.map((name) => (name === 'position' ? 'key & 67108863 as position' : name))
    const types = Object.values(columns).map((type, index) => `$${index + 1}::${type}[]`)
    const insert = `insert into workspace_gateway.${table} (${names.join(', ')}) overriding system value
      select * from unnest(${types.join(', ')})`
    const rows = from
      .prepare<[], unknown[]>(`select ${read.join(', ')} from ${table}`)
      .raw()
      .iterate()
    for (const batch of batches(rows)) {
      await to.query(
        insert,
        names.map((_, index) => batch.map((row) => row[index])),
      )
    }
  }
  await to.query('vacuum analyze')
  await to.end()
  from.close()
}

function* batches<T>(rows: Iterable<T>): Iterable<readonly T[]> {
  let batch: T[] = []
  for (const row of rows) {
    batch.push(row)
    if (batch.length === ROWS_PER_STATEMENT) {
      yield batch
      batch = []
    }
  }
  if (batch.length > 0) yield batch
}
