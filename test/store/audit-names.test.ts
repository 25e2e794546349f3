// Tests that the removal of a user finds the audit entries that name it in clear by an index: the audit log of a year
// has millions of entries, and on SQLite every other write waits meanwhile.
import { join } from 'node:path'
import SqliteDatabase from 'better-sqlite3'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { execute, POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'
import { openTestStore } from '../support/sqlite-store.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA } from '../support/workspaces.ts'

const INDEX = 'audit_entry_clear_name'

test('on SQLite the entries of a removed user are searched in an index', async () => {
  const path = join(temporaryDirectory(), 'workspace.db')
  const prepare = vi.spyOn(SqliteDatabase.prototype, 'prepare')
  onTestFinished(() => prepare.mockRestore())
  await using _store = await openTestStore(path)
  const taking = new Set(
    prepare.mock.calls.map(([source]) => source).filter((source) => /^delete .* who in/.test(source)),
  )
  expect(taking.size).toBe(1)
  const reader = new SqliteDatabase(path, { readonly: true })
  onTestFinished(() => void reader.close())
  const plan = reader.prepare<[string], { detail: string }>(`explain query plan ${[...taking][0]}`).all('[]')
  expect(plan.map(({ detail }) => detail).join('\n')).toContain(INDEX)
  expect(plan.map(({ detail }) => detail)).not.toContainEqual(expect.stringContaining('SCAN audit_entry'))
})

test.skipIf(POSTGRES_URL === null)('on PostgreSQL the entries of a removed user are searched in an index', async () => {
  const url = await temporaryDatabase()
  const options = { connectTimeoutMs: 30_000, statementTimeoutMs: 60_000, poolSize: 1 }
  const store = await openPostgresStore(url, options)
  await execute(
    url,
    `insert into workspace_gateway.audit_entry (at, kind, result, who, network, detail, count)
       select n, 'login', 'done', 'hmac-sha256:' || md5(n::text), '', '', 1 from generate_series(1, 20000) n;
     insert into workspace_gateway.audit_entry (at, kind, result, who, network, detail, count)
       values (1, 'login', 'done', '${ANA}', '', '', 1);
     analyze workspace_gateway.audit_entry`,
  )
  await store.removeUsers([ANA])
  // A connection that stays open reports its searches ten seconds later.
  await store[Symbol.asyncDispose]()
  const searches = `select idx_scan::int as count from pg_stat_user_indexes where indexrelname = '${INDEX}'`
  await expect.poll(() => execute(url, searches)).toEqual([{ count: 1 }])
  const left = `select count(*)::int as count from workspace_gateway.audit_entry where who = '${ANA}'`
  expect(await execute(url, left)).toEqual([{ count: 0 }])
})
