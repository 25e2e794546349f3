// Creates databases for single tests, on the server that the whole run shares.
import { randomUUID } from 'node:crypto'
import { Client, Pool } from 'pg'
import { beforeAll, expect, inject, onTestFinished } from 'vitest'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { execute } from './execute.ts'
import { type PostgresOptions, type PostgresServer, startPostgres } from './postgres-server.ts'

export { execute }

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of a database whose owner may create others; null when there is no server. */
    readonly postgresUrl: string | null
    /** The directory of its programs, to start more servers; null when there are none for this machine. */
    readonly postgresDirectory: string | null
  }
}

export const POSTGRES_URL = inject('postgresUrl')
export const POSTGRES_DIRECTORY = inject('postgresDirectory')

/** Kept for all tests of this process: to connect takes as much processor time as to create or to drop a database. */
const administration = new Pool({ connectionString: POSTGRES_URL ?? '', idleTimeoutMillis: 0, allowExitOnIdle: true })
// At the end of a run the server may stop first.
administration.on('error', () => {})

/** Returns the URL of a new, empty database, dropped at the end of the test. */
export async function temporaryDatabase(encoding = 'UTF8'): Promise<string> {
  const url = await createDatabase(encoding)
  onTestFinished(() => dropDatabase(url))
  return url
}

/**
 * Returns the URL of the same database for a new role without any rights there; the role is dropped at the end of the
 * test.
 */
export async function asNewUser(url: string): Promise<string> {
  const role = `role_${randomUUID().replaceAll('-', '')}`
  const password = 'of-who-looks'
  await execute(url, `create role ${role} login password '${password}'`)
  onTestFinished(() => administer(`drop role ${role}`))
  return Object.assign(new URL(url), { username: role, password }).href
}

/** Returns the URL of a copy of a database that nobody uses, dropped at the end of the test. */
export async function temporaryCopy(url: string): Promise<string> {
  const copy = await createFrom(nameOf(url))
  onTestFinished(() => dropDatabase(copy))
  return copy
}

/**
 * Makes a database that the store has created and `prepare` has changed, before the tests of the surrounding `describe`.
 * Returns a function that copies it for one test, in a quarter of the processor time. The copies have one identity, so
 * none moves to another.
 */
export function createdDatabases(prepare: (url: string) => Promise<unknown> = async () => {}): () => Promise<string> {
  let created = ''
  beforeAll(async () => {
    if (POSTGRES_URL === null) return undefined
    created = await createDatabase()
    await using _ = await openPostgresStore(created, {
      connectTimeoutMs: 30_000,
      statementTimeoutMs: 10_000,
      poolSize: 1,
    })
    await prepare(created)
    return () => dropDatabase(created)
  })
  return () => temporaryCopy(created)
}

/** Returns the URL of a new, empty database; the caller drops it. */
export function createDatabase(encoding = 'UTF8'): Promise<string> {
  return createFrom(`template0 encoding '${encoding}' locale 'C'`)
}

async function createFrom(template: string): Promise<string> {
  const url = new URL(requireServer())
  url.pathname = `/wg_test_${randomUUID().replaceAll('-', '')}`
  // Copies the files of the template; the default strategy writes all of it to the write-ahead log first.
  await administer(`create database ${nameOf(url.href)} template ${template} strategy file_copy`)
  return url.href
}

export async function dropDatabase(url: string): Promise<void> {
  await administer(`drop database if exists ${nameOf(url)} with (force)`)
}

async function administer(sql: string): Promise<void> {
  await administration.query(sql)
}

function requireServer(): string {
  if (POSTGRES_URL === null) throw new Error('there is no PostgreSQL server')
  return POSTGRES_URL
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1)
}

/** Starts a server that one test may crash; removed at the end of the test. */
export async function temporaryServer(options: PostgresOptions = {}): Promise<PostgresServer> {
  if (POSTGRES_DIRECTORY === null) throw new Error('there is no PostgreSQL')
  const server = await startPostgres({ directory: POSTGRES_DIRECTORY }, options)
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server
}

/** A connection of another client, which has run `statements`; closed at the end of the test. */
export async function openHand(url: string, statements = ''): Promise<Client> {
  const hand = new Client({ connectionString: url })
  // The server may stop, or the database be dropped, before the client ends.
  hand.on('error', () => {})
  await hand.connect()
  onTestFinished(() => hand.end())
  await hand.query(statements)
  return hand
}

/** Waits until as many transactions in this database wait for locks of others. */
export async function untilWaiting(url: string, count = 1): Promise<void> {
  const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await expect.poll(() => execute(url, waiting)).toHaveLength(count)
}
