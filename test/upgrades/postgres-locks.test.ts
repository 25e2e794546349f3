// While a database is brought up to date, nobody waits for long behind a table that a dump has.
import { readFileSync } from 'node:fs'
import { Client } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { SCHEMA_VERSION } from '../../src/store/postgres/migrations.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { runHere } from '../support/command-line.ts'
import { execute, POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'

const OLDER = new URL('fixtures/a8a3d8d.postgres.sql', import.meta.url)
const VERSION = 'select version from workspace_gateway.schema_version'

/** A database of an earlier version, and a connection that reads a table of it until it is told to end, as a dump does. */
async function duringDump() {
  const url = await temporaryDatabase()
  await execute(url, readFileSync(OLDER, 'utf8'))
  const [before] = await execute(url, VERSION)
  const dump = new Client({ connectionString: url })
  // The database may be dropped before it.
  dump.on('error', () => {})
  await dump.connect()
  onTestFinished(() => dump.end())
  await dump.query('begin; lock table workspace_gateway.export in access share mode')
  return { url, dump, before }
}

describe.skipIf(POSTGRES_URL === null)('a migration of a database that is being dumped', () => {
  test('lets those through who came after it, and goes on when the dump has ended', async () => {
    const { url, dump } = await duringDump()
    const opening = openPostgresStore(url, { connectTimeoutMs: 30_000, statementTimeoutMs: 60_000, poolSize: 1 })
    const waits = `select 1 from pg_locks where not granted and relation = 'workspace_gateway.export'::regclass`
    await expect.poll(() => execute(url, waits), { timeout: 20_000 }).toHaveLength(1)
    // The table of sessions was changed before that one is waited for.
    expect(await execute(url, 'select count(*) > 0 as found from workspace_gateway.session')).toEqual([{ found: true }])
    await dump.query('commit')
    await (await opening)[Symbol.asyncDispose]()
    expect(await execute(url, VERSION)).toEqual([{ version: SCHEMA_VERSION }])
  })

  test('begins again when the dump asks for what the migration has, and the dump goes on', async () => {
    const { url, dump } = await duringDump()
    const opening = openPostgresStore(url, { connectTimeoutMs: 30_000, statementTimeoutMs: 60_000, poolSize: 1 })
    const waits = `select 1 from pg_locks where not granted and relation = 'workspace_gateway.export'::regclass`
    await expect.poll(() => execute(url, waits), { timeout: 20_000 }).toHaveLength(1)
    await dump.query('lock table workspace_gateway.session in access share mode; commit')
    await (await opening)[Symbol.asyncDispose]()
    expect(await execute(url, VERSION)).toEqual([{ version: SCHEMA_VERSION }])
  })

  test('is given up with a sentence when the dump does not end, and leaves the database as it was', async () => {
    const { url, before } = await duringDump()
    const { exitCode, stderr } = await runHere(['keys', 'list', '--database', url, '--statement-timeout', '1000'])
    expect(stderr).toContain('somebody uses a table that is to be brought up to date')
    expect(exitCode).toBe(1)
    expect(await execute(url, VERSION)).toEqual([before])
  })
})
