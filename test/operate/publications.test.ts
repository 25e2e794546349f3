// Tests databases whose tables are all published, as managed services do for replication into another server: then
// PostgreSQL refuses to update and to remove rows of a table without a primary key.
import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { moveOnline } from '../../src/migration/online.ts'
import { SCHEMA_VERSION } from '../../src/store/postgres/migrations.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { ANA, put } from '../contract/values.ts'
import { ONLINE_MOVE } from '../support/online-move.ts'
import { execute, POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'

const OLDER = new URL('../upgrades/fixtures/a8a3d8d.postgres.sql', import.meta.url)

async function publishedDatabase(script = ''): Promise<string> {
  const url = await temporaryDatabase()
  await execute(url, script)
  await execute(url, 'create publication everything for all tables')
  return url
}

async function open(url: string) {
  const store = await openPostgresStore(url, { connectTimeoutMs: 30_000, statementTimeoutMs: 10_000, poolSize: 2 })
  onTestFinished(() => store[Symbol.asyncDispose]())
  return store
}

test.skipIf(POSTGRES_URL === null)('a published database of an earlier version is upgraded', async () => {
  const url = await publishedDatabase(readFileSync(OLDER, 'utf8'))
  await open(url)
  expect(await execute(url, 'select version from workspace_gateway.schema_version')).toEqual([
    { version: SCHEMA_VERSION },
  ])
})

test.skipIf(POSTGRES_URL === null)('an online move goes from one published database to another', async () => {
  const [source, target] = [await open(await publishedDatabase()), await open(await publishedDatabase())]
  await source.applyChanges([put()])
  await moveOnline(source, target, ONLINE_MOVE)
  expect((await target.usersAfter('', 2)).map(({ email }) => email)).toEqual([ANA])
})
