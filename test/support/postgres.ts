// A database of one test's own, on the server that the whole run shares.
import { randomUUID } from 'node:crypto'
import { inject, onTestFinished } from 'vitest'
import { execute } from './execute.ts'
import { type PostgresOptions, type PostgresServer, startPostgres } from './postgres-server.ts'

export { execute }

declare module 'vitest' {
  interface ProvidedContext {
    /** Of a database whose owner may make others; null when no server can be had. */
    readonly postgresUrl: string | null
    /** Of its programs, to start more servers; null when there are none for this machine. */
    readonly postgresDirectory: string | null
  }
}

export const POSTGRES_URL = inject('postgresUrl')
export const POSTGRES_DIRECTORY = inject('postgresDirectory')

/** The URL of a new, empty database, dropped at the end of the test. */
export async function temporaryDatabase(encoding = 'UTF8'): Promise<string> {
  const url = await createDatabase(encoding)
  onTestFinished(() => dropDatabase(url))
  return url
}

/** The same database for a role of its own, which may do nothing there but look; dropped at the end of the test. */
export async function asNewUser(url: string): Promise<string> {
  const role = `role_${randomUUID().replaceAll('-', '')}`
  const password = 'of-who-looks'
  await execute(url, `create role ${role} login password '${password}'`)
  onTestFinished(() => execute(requireServer(), `drop role ${role}`).then(() => {}))
  return Object.assign(new URL(url), { username: role, password }).href
}

/** A new, empty database; the caller drops it. */
export async function createDatabase(encoding = 'UTF8'): Promise<string> {
  const url = new URL(requireServer())
  url.pathname = `/wg_test_${randomUUID().replaceAll('-', '')}`
  // Copied as files: the default is to write all of it to the log first.
  const strategy = `template template0 encoding '${encoding}' locale 'C' strategy file_copy`
  await execute(requireServer(), `create database ${nameOf(url.href)} ${strategy}`)
  return url.href
}

export async function dropDatabase(url: string): Promise<void> {
  await execute(requireServer(), `drop database if exists ${nameOf(url)} with (force)`)
}

function requireServer(): string {
  if (POSTGRES_URL === null) throw new Error('there is no PostgreSQL server')
  return POSTGRES_URL
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1)
}

/** A server of one test's own, to be crashed; removed at the end of the test. */
export async function temporaryServer(options: PostgresOptions = {}): Promise<PostgresServer> {
  if (POSTGRES_DIRECTORY === null) throw new Error('there is no PostgreSQL')
  const server = await startPostgres({ directory: POSTGRES_DIRECTORY }, options)
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server
}
