// A PostgreSQL server for the tests of one file: on the server that all tests share, the transactions of other tests
// keep removed rows, and lock what is to be rewritten.
import { beforeAll } from 'vitest'
import { execute, POSTGRES_DIRECTORY, temporaryDatabase } from './postgres.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'

/**
 * Starts the server before the tests. Returns a function that makes an empty database, on the shared server where this
 * machine cannot start one.
 */
export function ownPostgres(): () => Promise<string> {
  let server: PostgresServer | null = null
  let databases = 0
  beforeAll(async () => {
    if (POSTGRES_DIRECTORY === null) return undefined
    const started = await startPostgres({ directory: POSTGRES_DIRECTORY })
    server = started
    return () => started[Symbol.asyncDispose]()
  })

  return async () => {
    if (server === null) return temporaryDatabase()
    databases += 1
    await execute(server.url('postgres'), `create database own_${databases}`)
    return server.url(`own_${databases}`)
  }
}
