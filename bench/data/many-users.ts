// Creates databases of very many users with two small documents each, written with SQL straight into the gateway's
// tables.
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { openStore } from '../../src/store/open-store.ts'
import type { Machine } from '../machine.ts'
import { emailOf, type SignedIn, signIn } from './workspaces.ts'

/** Number of users that have tokens, spread evenly over all. */
const SIGNED_IN = 4_000

const STORE_OPTIONS = {
  lockTimeoutMs: 5_000,
  connectTimeoutMs: 3_000,
  statementTimeoutMs: 10_000,
  poolSize: 1,
  onFatal(error: unknown) {
    throw error
  },
}

export interface ManyUsers {
  readonly databaseUrl: string
  readonly users: readonly SignedIn[]
}

const prepared = new WeakMap<Machine, Map<number, Promise<ManyUsers>>>()

/** Created at the first call, once per machine and count. */
export function manyUsers(machine: Machine, count: number): Promise<ManyUsers> {
  const ofBench = prepared.get(machine) ?? new Map<number, Promise<ManyUsers>>()
  prepared.set(machine, ofBench)
  const known = ofBench.get(count) ?? prepare(machine, count)
  ofBench.set(count, known)
  return known
}

async function prepare(machine: Machine, count: number): Promise<ManyUsers> {
  const path = join(machine.directory, `users-${count}.db`)
  const databaseUrl = `file:${path}`
  // Creates the tables. It is closed before the file is opened again, because two copies of SQLite in one process
  // release each other's locks.
  const store = await openStore(databaseUrl, STORE_OPTIONS)
  await store[Symbol.asyncDispose]()
  fill(path, count)
  const stride = Math.max(1, Math.floor(count / SIGNED_IN))
  const emails = Array.from({ length: Math.min(SIGNED_IN, count) }, (_, index) => emailOf(index * stride))
  return { databaseUrl, users: await signIn(machine, databaseUrl, emails) }
}

function fill(path: string, count: number): void {
  const database = new Database(path)
  database.pragma('synchronous = OFF')
  database.pragma('cache_size = -262144')
  // The triggers count changes. They are dropped for the fill, because a new user has no changes.
  const triggers = database
    .prepare<[], { readonly name: string; readonly sql: string }>(
      `select name, sql from sqlite_master where type = 'trigger' and tbl_name = 'document'`,
    )
    .all()
  database.exec('begin')
  for (const { name } of triggers) database.exec(`drop trigger ${name}`)
  database.exec(`
    create temp table number as
      with recursive n (i) as (values (0) union all select i + 1 from n where i < ${count - 1}) select i from n;
    insert into user (id, email) select i + 1, 'user' || i || '@example.com' from number;
    insert into document (key, user_id, kind, id, ref, text)
      select ((i + 1) << 28) | (1 << 26) | 1, i + 1, 'project', 'p', 'r',
        '{"id":"p","ref":"r","name":"Project of user ' || i || '","tags":["a","b"]}' from number;
    insert into document (key, user_id, kind, id, ref, text)
      select ((i + 1) << 28) | (2 << 26) | 1, i + 1, 'template', 't', null, '{"id":"t","name":"Landing"}' from number;
    insert into session (id, email, refresh_hash, created_at, idle_expires_at, expires_at)
      select lower(hex(randomblob(16))), 'user' || i || '@example.com', randomblob(32), 0, 4102444800000, 4102444800000 from number;
  `)
  for (const { sql } of triggers) database.exec(sql)
  database.exec('commit')
  database.pragma('wal_checkpoint(TRUNCATE)')
  database.close()
}
