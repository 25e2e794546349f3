// Runs the tests of the store for sign-ins on both engines.
import { join } from 'node:path'
import { describe } from 'vitest'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { openSqliteStore } from '../../src/store/sqlite/open.ts'
import { describeSignIn } from '../contract/sign-in.ts'
import { createdDatabases, POSTGRES_URL } from '../support/postgres.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const SQLITE = {
  lockTimeoutMs: 5_000,
  onFatal(error: unknown) {
    throw error
  },
}
/** The timeouts allow for a busy machine. */
const POSTGRES = { connectTimeoutMs: 30_000, statementTimeoutMs: 10_000, poolSize: 10 }

describeSignIn('sqlite', async () => {
  const path = join(temporaryDirectory(), 'store.db')
  return { store: await openSqliteStore(path, SQLITE), reopen: () => openSqliteStore(path, SQLITE) }
})

describe.skipIf(POSTGRES_URL === null)('postgres', () => {
  const createdDatabase = createdDatabases()
  describeSignIn('postgres', async () => {
    const url = await createdDatabase()
    return { store: await openPostgresStore(url, POSTGRES), reopen: () => openPostgresStore(url, POSTGRES) }
  })
})
