// The PostgreSQL schema, as an append-only list: entry n brings version n to n + 1. Never edit one that was released.

import { setTimeout as delay } from 'node:timers/promises'
import { StoreMissingError, StoreOpenError, StoreUnavailableError } from '../contract.ts'
import type { Connection } from './connection.ts'
import { isLockRefused } from './engine/faults/pg-errors.ts'
import { NO_SESSION_EMAIL, STAMPS } from './migrations/0-snapshots.ts'
import { WORKSPACES } from './migrations/1-workspaces.ts'
import { MOVE } from './migrations/2-move.ts'
import { REMOVAL } from './migrations/3-removal.ts'
import { SESSIONS } from './migrations/4-sessions.ts'
import { SIGN_IN } from './migrations/5-sign-in.ts'
import { REST_CALLS } from './migrations/6-rest-calls.ts'
import { SESSION_CLIENT } from './migrations/7-session-client.ts'
import { CHANGED_REFERENCES } from './migrations/8-changed-references.ts'
import { REMOVED_NAMES } from './migrations/9-removed-names.ts'
import { KNOWN_NETWORK_AGE } from './migrations/10-known-network-age.ts'
import { CLEAR_AUDIT_NAMES } from './migrations/11-clear-audit-names.ts'

const MIGRATIONS: readonly string[] = [
  WORKSPACES,
  MOVE,
  REMOVAL,
  SESSIONS,
  SIGN_IN,
  REST_CALLS,
  SESSION_CLIENT,
  CHANGED_REFERENCES,
  REMOVED_NAMES,
  KNOWN_NETWORK_AGE,
  CLEAR_AUDIT_NAMES,
]

/** The newest schema version that this program knows. */
export const SCHEMA_VERSION = MIGRATIONS.length

/** Advisory lock that makes gateways which start at once migrate one after the other. */
const LOCK = 0x57_53_47_57

/**
 * Lock timeout of one attempt: all later statements queue behind a session that waits for a table. Longer than
 * `deadlock_timeout` (1 s by default), after which an autovacuum gives way.
 */
const TABLE_TIMEOUT_MS = 1_500
/** Pause between two attempts. The statements that have queued are served in it. */
const PAUSE_MS = 500

export interface MigrateOptions {
  readonly mustExist: boolean
  /** How long to retry when another session has locked a table, in milliseconds. */
  readonly patienceMs: number
}

/**
 * Migrates the database to this program's schema version. When it throws, the caller must close the connection, which
 * rolls back the open transaction.
 */
export async function migrate(connection: Connection, { mustExist, patienceMs }: MigrateOptions): Promise<void> {
  await requireUtf8(connection)
  const found = await versionOf(connection)
  if (found === MIGRATIONS.length) return
  if (found === null && mustExist) throw new StoreMissingError('the database has no tables of this program')
  const giveUpAt = performance.now() + patienceMs
  for (;;) {
    try {
      return await migrateOnce(connection)
    } catch (error) {
      if (!isLockRefused(error)) throw error
      if (performance.now() > giveUpAt) throw inUse(error)
      await connection.rollback()
      await delay(PAUSE_MS)
    }
  }
}

/** Runs all missing migrations in one transaction. An advisory lock excludes other starting processes. */
async function migrateOnce(connection: Connection): Promise<void> {
  await connection.begin()
  await connection.script(`select pg_advisory_xact_lock(${LOCK})`)
  // Set only now: the wait for another starting process blocks no one and needs no timeout.
  await connection.script(`set local lock_timeout = ${TABLE_TIMEOUT_MS}`)
  const version = await versionOf(connection)
  if (version === null) {
    if (!(await hasSchema(connection))) await connection.script('create schema workspace_gateway')
    await connection.script(`
      create table workspace_gateway.schema_version (version integer not null);
      insert into workspace_gateway.schema_version values (0)`)
  } else if (version > MIGRATIONS.length) {
    throw new StoreOpenError(
      `the database has schema version ${version}, but this program knows only ${MIGRATIONS.length}: use a newer version of the program`,
    )
  }
  if (version === 1) await connection.script(STAMPS)
  if (version === 3) await connection.script(NO_SESSION_EMAIL)
  for (const migration of MIGRATIONS.slice(version ?? 0)) await connection.script(migration)
  // The table has no primary key, and a publication of all tables refuses updates of such a table otherwise.
  await connection.script(`
    alter table workspace_gateway.schema_version replica identity full;
    update workspace_gateway.schema_version set version = ${MIGRATIONS.length}`)
  await connection.commit()
}

function inUse({ cause }: Error): StoreUnavailableError {
  return new StoreUnavailableError(
    'a table that must be migrated is in use, for example by a dump or a backup: start again when that has ended',
    { cause },
  )
}

/** The schema version, or null when the schema holds nothing of this program. */
export async function versionOf(connection: Connection): Promise<number | null> {
  const [found] = await connection.script(`
    select to_regclass('workspace_gateway.schema_version') is not null as "hasVersion",
      exists (select 1 from pg_class where relnamespace = to_regnamespace('workspace_gateway')) as "hasTables"`)
  if (found?.hasVersion !== 't') {
    if (found?.hasTables === 't') throw new StoreOpenError('the schema workspace_gateway belongs to another program')
    return null
  }
  const [row] = await connection.script('select version from workspace_gateway.schema_version')
  return Number(row?.version)
}

/**
 * Checked first, because `create schema if not exists` needs the create privilege on the database. The owner of an
 * empty schema may lack it.
 */
async function hasSchema(connection: Connection): Promise<boolean> {
  const [row] = await connection.script(`select to_regnamespace('workspace_gateway') is not null as found`)
  return row?.found === 't'
}

async function requireUtf8(connection: Connection): Promise<void> {
  const [row] = await connection.script(`select current_setting('server_encoding') as encoding`)
  if (row?.encoding !== 'UTF8') throw new StoreOpenError('the database must have the encoding UTF8')
}
