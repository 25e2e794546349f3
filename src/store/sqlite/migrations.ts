// The SQLite schema as an append-only list: migration n takes version n to n + 1. Never edit a released migration.
import type { Database } from 'better-sqlite3'
import { StoreOpenError } from '../contract.ts'
import { adoptSnapshot } from './migrations/0-snapshots.ts'
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

/** The schema version of this program. */
export const SCHEMA_VERSION = MIGRATIONS.length

/** Marks the file as ours (`PRAGMA application_id`): "WSGW". */
export const APPLICATION_ID = 0x57534757

/**
 * Migrates the database to this program's schema version, in one transaction that also locks out other starting
 * processes. Does not write if the version is current, so that commands that only read work beside a lock and on a full
 * disk. Throws `StoreOpenError` for a file of another program or of a newer version.
 */
export function migrate(database: Database): void {
  if (isCurrent(database)) return
  database.exec('begin immediate')
  try {
    requireOwn(database)
    const version = versionOf(database)
    adoptSnapshot(database, version)
    for (const migration of MIGRATIONS.slice(version)) database.exec(migration)
    database.pragma(`application_id = ${APPLICATION_ID}`)
    database.pragma(`user_version = ${MIGRATIONS.length}`)
    database.exec('commit')
  } catch (error) {
    if (database.inTransaction) database.exec('rollback')
    throw error
  }
}

/** Throws `StoreOpenError` for a file of another program or of a newer version. Writes nothing. */
export function requireOwn(database: Database): void {
  const version = versionOf(database)
  const applicationId = applicationIdOf(database)
  if (applicationId !== APPLICATION_ID && (applicationId !== 0 || hasTables(database))) {
    throw new StoreOpenError('the file is an SQLite database of another program')
  }
  if (version > MIGRATIONS.length) {
    throw new StoreOpenError(
      `the database has schema version ${version}, but this program knows only ${MIGRATIONS.length}: use a newer version of the program`,
    )
  }
}

/** Throws `StoreOpenError` unless the database has this schema version: a read-only database cannot be migrated. */
export function requireSchema(database: Database): void {
  const version = versionOf(database)
  if (applicationIdOf(database) !== APPLICATION_ID) {
    throw new StoreOpenError('the file is not a database of this program')
  }
  if (version !== MIGRATIONS.length) {
    throw new StoreOpenError(
      `the database has schema version ${version}, but this program needs ${MIGRATIONS.length}: start the gateway once with write access to the database`,
    )
  }
}

function isCurrent(database: Database): boolean {
  return applicationIdOf(database) === APPLICATION_ID && versionOf(database) === MIGRATIONS.length
}

function versionOf(database: Database): number {
  return database.pragma('user_version', { simple: true }) as number
}

function applicationIdOf(database: Database): number {
  return database.pragma('application_id', { simple: true }) as number
}

function hasTables(database: Database): boolean {
  return database.prepare('select 1 from sqlite_master limit 1').get() !== undefined
}
