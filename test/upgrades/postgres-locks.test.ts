// Tests that nobody waits for long behind a table that a dump has locked while a database is migrated.
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { SCHEMA_VERSION } from '../../src/store/postgres/migrations.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { runHere } from '../support/command-line.ts'
import { execute, openHand, POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'

const OLDER = new URL('fixtures/a8a3d8d.postgres.sql', import.meta.url)
const VERSION = 'select version from workspace_gateway.schema_version'

/**
 * A database of an earlier version, and a connection that has locked a table of it as a dump does, until it is told to
 * end.
 */
async function duringDump() {
  const url = await temporaryDatabase()
  await execute(url, readFileSync(OLDER, 'utf8'))
  const [before] = await execute(url, VERSION)
  const dump = await openHand(url, 'begin; lock table workspace_gateway.export in access share mode')
  return { url, dump, before }
}

describe.skipIf(POSTGRES_URL === null)('a migration of a database that is being dumped', () => {
  test('lets later readers through, and continues when the dump has ended', async () => {
    const { url, dump } = await duringDump()
    const opening = openPostgresStore(url, { connectTimeoutMs: 30_000, statementTimeoutMs: 60_000, poolSize: 1 })
    const waits = `select 1 from pg_locks where not granted and relation = 'workspace_gateway.export'::regclass`
    await expect.poll(() => execute(url, waits)).toHaveLength(1)
    // The migration changes the table of sessions before it waits for the table of exports.
    expect(await execute(url, 'select count(*) > 0 as found from workspace_gateway.session')).toEqual([{ found: true }])
    await dump.query('commit')
    await (await opening)[Symbol.asyncDispose]()
    expect(await execute(url, VERSION)).toEqual([{ version: SCHEMA_VERSION }])
  })

  test('starts again when the dump asks for a table it has locked, so that the dump continues', async () => {
    const { url, dump } = await duringDump()
    const opening = openPostgresStore(url, { connectTimeoutMs: 30_000, statementTimeoutMs: 60_000, poolSize: 1 })
    const waits = `select 1 from pg_locks where not granted and relation = 'workspace_gateway.export'::regclass`
    await expect.poll(() => execute(url, waits)).toHaveLength(1)
    await dump.query('lock table workspace_gateway.session in access share mode; commit')
    await (await opening)[Symbol.asyncDispose]()
    expect(await execute(url, VERSION)).toEqual([{ version: SCHEMA_VERSION }])
  })

  test('gives up with one sentence when the dump does not end, and leaves the schema version unchanged', async () => {
    const { url, before } = await duringDump()
    const { exitCode, stderr } = await runHere(['keys', 'list', '--database', url, '--statement-timeout', '1000'])
    expect(stderr).toContain('a table that must be migrated is in use')
    expect(exitCode).toBe(1)
    expect(await execute(url, VERSION)).toEqual([before])
  })
})
