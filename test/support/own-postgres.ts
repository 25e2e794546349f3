// A PostgreSQL server for the tests of one file: on the server that all tests share, the transactions of other tests
// keep removed rows, and lock what is to be rewritten.
import { beforeAll } from 'vitest'
import { execute, POSTGRES_DIRECTORY } from './postgres.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'

/** Starts the server before the tests, if PostgreSQL is installed. Returns a function that makes an empty database. */
export function ownPostgres(): () => Promise<string> {
  let server: PostgresServer
  let databases = 0
  beforeAll(async () => {
    if (POSTGRES_DIRECTORY === null) return undefined
    server = await startPostgres({ directory: POSTGRES_DIRECTORY })
    return () => server[Symbol.asyncDispose]()
  })

  return async () => {
    databases += 1
    await execute(server.url('postgres'), `create database own_${databases}`)
    return server.url(`own_${databases}`)
  }
}
