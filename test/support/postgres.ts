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
  if (POSTGRES_URL === null) throw new Error('there is no PostgreSQL server')
  const name = `wg_test_${randomUUID().replaceAll('-', '')}`
  await execute(POSTGRES_URL, `create database ${name} template template0 encoding '${encoding}' locale 'C'`)
  onTestFinished(async () => {
    await execute(POSTGRES_URL, `drop database if exists ${name} with (force)`)
  })
  const url = new URL(POSTGRES_URL)
  url.pathname = `/${name}`
  return url.href
}

/** A server of one test's own, to be crashed; removed at the end of the test. */
export async function temporaryServer(options: PostgresOptions = {}): Promise<PostgresServer> {
  if (POSTGRES_DIRECTORY === null) throw new Error('there is no PostgreSQL')
  const server = await startPostgres({ directory: POSTGRES_DIRECTORY }, options)
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server
}
