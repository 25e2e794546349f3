// Every table of the schema in moves and backups: none is forgotten, and no column.
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import { moveOnline } from '../../src/migration/online.ts'
import { CARRIED_TABLES, LEFT_BEHIND } from '../../src/store/cutover/carried-tables.ts'
import { openStore } from '../../src/store/open-store.ts'
import { runHere } from '../support/command-line.ts'
import { startGateway } from '../support/gateway.ts'
import { POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, SMALL_WORLD } from '../support/workspaces.ts'

/** Tables that a move copies by their meaning, not as rows. */
const OWN_COPIES = ['user', 'session', 'signing_key', 'document', 'export', 'export_element', 'rest_call']
/** The columns in which every database names its own states. */
const NAMES_OF_STATES = new Set(['revision', 'stamp'])
const STORE = { lockTimeoutMs: 5_000, connectTimeoutMs: 3_000, statementTimeoutMs: 10_000, poolSize: 4, onFatal() {} }

type Row = Readonly<Record<string, unknown>>
type Tables = Readonly<Record<string, readonly Row[]>>

const isLeftBehind = (table: string) => Object.hasOwn(LEFT_BEHIND, table)

function inOrder(rows: readonly Row[]): readonly Row[] {
  return rows
    .map((row) => Object.fromEntries(Object.entries(row).filter(([column]) => !NAMES_OF_STATES.has(column))))
    .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
}

interface Column {
  readonly name: string
  readonly dflt_value: string | null
}

function withDatabase<T>(url: string, use: (database: Database.Database) => T): T {
  const database = new Database(url.slice('file:'.length))
  try {
    return use(database)
  } finally {
    database.close()
  }
}

/** The tables of the schema with their columns. */
function sqliteSchema(url: string): Readonly<Record<string, readonly Column[]>> {
  return withDatabase(url, (database) => {
    const names = database
      .prepare<[], string>(`select name from sqlite_master where type = 'table' and name not like 'sqlite_%'`)
      .pluck()
      .all()
    return Object.fromEntries(names.map((name) => [name, database.pragma(`table_info("${name}")`) as Column[]]))
  })
}

function sqliteTables(url: string): Tables {
  const names = Object.keys(sqliteSchema(url)).filter((name) => !isLeftBehind(name))
  return withDatabase(url, (database) =>
    Object.fromEntries(
      names.map((name) => [name, inOrder(database.prepare<[], Row>(`select * from "${name}"`).all())]),
    ),
  )
}

async function withPostgres<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}

function postgresSchema(url: string): Promise<Readonly<Record<string, readonly string[]>>> {
  return withPostgres(url, async (client) => {
    const { rows } = await client.query<{ table_name: string; column_name: string }>(
      `select table_name, column_name from information_schema.columns where table_schema = 'workspace_gateway'`,
    )
    const columns = Map.groupBy(rows, (row) => row.table_name)
    return Object.fromEntries([...columns].map(([name, some]) => [name, some.map((row) => row.column_name)]))
  })
}

async function postgresTables(url: string): Promise<Tables> {
  const names = Object.keys(await postgresSchema(url)).filter((name) => !isLeftBehind(name))
  return withPostgres(url, async (client) => {
    const tables: Record<string, readonly Row[]> = {}
    for (const name of names) {
      tables[name] = inOrder((await client.query<Row>(`select * from workspace_gateway."${name}"`)).rows)
    }
    return tables
  })
}

/** A database with a row in every table, and in every column a value that is not its default. */
async function filled(): Promise<string> {
  const databasePath = join(temporaryDirectory(), 'workspace.db')
  const gateway = await startGateway({ databasePath })
  await gateway.load(SMALL_WORLD)
  const body = JSON.stringify({ email: ANA })
  await gateway.send('POST', '/login', body, { 'content-type': 'application/json', 'user-agent': 'curl/8' })
  await gateway.audit.flush()
  const url = `file:${databasePath}`
  withDatabase(url, (database) => {
    database.exec(`
      update session set client = 'backend';
      insert into client values ('backend', 'hash', 'example.com', 'login', 60, 1), ('other', 'h', '*', 'login,import', 5, 2);
      insert into known_network values ('k', 'a', 3);
      insert into mail_quota values ('q', 4, 5);
      insert into code_request values ('r', 'ana@example.com', '192.0.2.1', 'curl', 'kid', 'hash', 1, 6);
      insert into code_request values ('s', 'ben@example.com', '192.0.2.1', 'curl', 'kid', 'hash', 0, 6);
      insert into pending_sign_in values ('ana@example.com', '192.0.2.1', 'p', 'kid', 'hash', 1, 2, 7);
      insert into outbox values ('p', 'ana@example.com', '192.0.2.1', 'curl', 'kid', 6, 7, 8, 1, 'owner');
      insert into audit_entry values (900, 1, 'kind', 'done', 'who', '192.0.2.0/24', 'detail', 2);
      insert into removed_name values ('hmac-sha256:5b1f', 10);
      insert into rest_call values ('2026-01-01', '/projects', 'curl', 3, 9);
      insert into rest_call_writer values ('w', 1, '2026-01-01');`)
  })
  return url
}

describe.skipIf(POSTGRES_URL === null)('every table of the schema', () => {
  test('is moved with all its columns, or listed as left behind with a reason, on both engines', async () => {
    const [file, url] = [await filled(), await temporaryDatabase()]
    await (await openStore(url, STORE))[Symbol.asyncDispose]()
    const [here, there] = [sqliteSchema(file), await postgresSchema(url)]
    const known = [...OWN_COPIES, ...Object.keys(CARRIED_TABLES), ...Object.keys(LEFT_BEHIND)].toSorted()
    // SQLite has its own number for the version of the schema, so it needs no such table.
    expect(Object.keys(here).toSorted()).toEqual(known.filter((name) => name !== 'schema_version'))
    expect(Object.keys(there).toSorted()).toEqual(known)
    for (const [table, { columns }] of Object.entries(CARRIED_TABLES)) {
      expect(here[table]?.map(({ name }) => name).toSorted(), table).toEqual(Object.keys(columns).toSorted())
      expect(there[table]?.toSorted(), table).toEqual(Object.keys(columns).toSorted())
    }
    expect(Object.values(LEFT_BEHIND).filter((reason) => reason === '')).toEqual([])
  })

  test('is the same after a move there and back', async () => {
    const [home, away, back] = [
      await filled(),
      await temporaryDatabase(),
      `file:${join(temporaryDirectory(), 'back.db')}`,
    ]
    expect(columnsThatSayNothing(home)).toEqual([])
    for (const [from, to] of [
      [home, away],
      [away, back],
    ] as const) {
      // The second move finds nothing to do.
      for (const _ of [1, 2])
        expect(await runHere(['move', '--from', from, '--to', to])).toMatchObject({ exitCode: 0, stderr: '' })
    }
    expect(sqliteTables(back)).toEqual(sqliteTables(home))
    withDatabase(back, (database) => {
      database.exec(`update move set phase = 'live'`)
      const add = `insert into audit_entry (at, kind, result, who, network, detail, count) values (1, '', '', '', '', '', 1)`
      expect(database.prepare(add).run().lastInsertRowid).toBe(901)
    })
  })

  test('is the same after a backup of PostgreSQL is restored, except for the tables that backups leave out', async () => {
    const [home, away, restored, ended] = [
      await filled(),
      await temporaryDatabase(),
      await temporaryDatabase(),
      await temporaryDatabase(),
    ]
    const backup = join(temporaryDirectory(), 'backup.ndjson')
    await runHere(['move', '--from', home, '--to', away])
    expect(await runHere(['backup', backup, '--database', away])).toMatchObject({ exitCode: 0, stderr: '' })
    const restore = ['restore', backup, '--database']
    expect(await runHere([...restore, restored, '--keep-sessions'])).toMatchObject({ exitCode: 0, stderr: '' })
    const wanted = await postgresTables(away)
    const notRestored = Object.entries(CARRIED_TABLES).flatMap(([name, table]) => (table.isBackedUp ? [] : [name]))
    expect(notRestored).toEqual(['code_request', 'pending_sign_in', 'outbox', 'removed_name', 'rest_call_writer'])
    const nothing = Object.fromEntries(notRestored.map((name) => [name, []]))
    expect(withoutRestore(await postgresTables(restored))).toEqual({ ...wanted, ...nothing })
    expect(await runHere([...restore, ended])).toMatchObject({ exitCode: 0, stderr: '' })
    expect(withoutRestore(await postgresTables(ended))).toEqual({ ...wanted, ...nothing, session: [] })
  })
})

/** Without the entry that `restore` adds to the audit log, and without the writer of that entry. */
function withoutRestore({ audit_entry: entries = [], rest_call_writer: writers = [], ...tables }: Tables): Tables {
  const others = entries.filter(({ kind }) => kind !== 'restore')
  expect(others).toHaveLength(entries.length - 1)
  expect(writers).toEqual([{ writer: expect.stringMatching(/^audit /), sequence: '1', day: expect.any(String) }])
  return { ...tables, audit_entry: others, rest_call_writer: [] }
}

/** Columns that hold only their default: their rows would look the same if the move had forgotten the column. */
function columnsThatSayNothing(url: string): readonly string[] {
  const schema = sqliteSchema(url)
  return withDatabase(url, (database) =>
    Object.entries(schema).flatMap(([table, columns]) =>
      isLeftBehind(table)
        ? []
        : columns
            .filter(({ name, dflt_value }) => {
              const sql = `select 1 from "${table}" where "${name}" is not (${dflt_value ?? 'null'}) limit 1`
              return database.prepare(sql).get() === undefined
            })
            .map(({ name }) => `${table}.${name}`),
    ),
  )
}

test('an online move catches up with what changes in the other tables while it is under way', async () => {
  const [home, away] = [await filled(), `file:${join(temporaryDirectory(), 'away.db')}`]
  {
    await using from = await openStore(home, STORE)
    await using to = await openStore(away, STORE)
    let isFirst = true
    const report = await moveOnline(from, to, {
      maxPauseMs: 5_000,
      stop: new AbortController().signal,
      onProgress() {},
      onTracesLeft() {},
      onCancelFailed() {},
      onPhase() {
        if (!isFirst) return
        isFirst = false
        withDatabase(home, (database) =>
          database.exec(`
            delete from client where name = 'other'; update client set per_minute = 61;
            insert into client values ('new', 'h', '*', 'login', 1, 1);
            delete from outbox; update audit_salt set salt = 'another';
            insert or replace into pending_sign_in values ('ana@example.com', '192.0.2.1', 'p2', 'kid', 'hash', 0, 0, 9);
            insert into audit_entry values (901, 1, 'later', 'done', '', '', '', 1);
            update removed_name set removed_at = 11; insert into removed_name values ('hmac-sha256:6c20', 12);
            delete from audit_entry where id = 900; update known_network set seen_at = 10;`),
        )
      },
    })
    expect(report?.attempts).toBe(1)
  }
  expect(sqliteTables(away)).toEqual(sqliteTables(home))
})
