// Tests how much PostgreSQL reads of the data that a replacement has staged, according to its own counters.
import { describe, expect, test } from 'vitest'
import { openPostgresStore } from '../src/store/postgres/open.ts'
import { NOW } from './contract/values.ts'
import { execute, POSTGRES_URL, temporaryDatabase } from './support/postgres.ts'

const OPTIONS = { connectTimeoutMs: 30_000, statementTimeoutMs: 60_000, poolSize: 1 }
/** Counts rows and index entries. */
const READ = `select (pg_stat_get_tuples_returned('workspace_gateway.staged_document'::regclass) +
    (select sum(pg_stat_get_tuples_returned(indexrelid)) from pg_index
      where indrelid = 'workspace_gateway.staged_document'::regclass))::int as read`

/** A connection reports what it has read when it ends. */
async function untilAllEnded(url: string): Promise<void> {
  const others = 'select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()'
  await expect.poll(() => execute(url, others)).toEqual([])
}

async function readSoFar(url: string): Promise<number> {
  await untilAllEnded(url)
  return Number((await execute(url, READ))[0]?.read)
}

/** Makes a database in which a replacement `r` has staged documents of users. */
async function staged(users: number, documentsOfEach: number): Promise<string> {
  const url = await temporaryDatabase()
  const store = await openPostgresStore(url, OPTIONS)
  await store.beginReplacement('r', NOW)
  await store[Symbol.asyncDispose]()
  await execute(
    url,
    `set search_path to workspace_gateway;
    insert into staged_user (replacement, email, user_id)
      select 'r', 'user' || lpad(n::text, 4, '0') || '@example.com', n from generate_series(1, ${users}) n;
    insert into staged_document (owner, kind, position, id, ref, text)
      select s.id, 'template', n, n, null, '1' from staged_user s, generate_series(1, ${documentsOfEach}) n;
    analyze`,
  )
  await untilAllEnded(url)
  await execute(url, 'select pg_stat_reset()')
  return url
}

describe.skipIf(POSTGRES_URL === null)('staged data on PostgreSQL', () => {
  test('a swap reads the documents of its users, not those of all staged users', async () => {
    const url = await staged(200, 100)
    const store = await openPostgresStore(url, OPTIONS)
    const question = { replacement: 'r', after: '', maxDocuments: 150, isDryRun: true, now: NOW }
    expect(await store.swapReplacement(question)).toMatchObject([{ email: 'user0001@example.com', added: 100 }])
    await store[Symbol.asyncDispose]()
    const read = await readSoFar(url)
    expect(read).toBeGreaterThan(99)
    expect(read).toBeLessThan(2_000)
  })

  test('a staging step reads only the end of its user’s list', async () => {
    const url = await staged(2, 5_000)
    const store = await openPostgresStore(url, OPTIONS)
    const step = { type: 'stageDocument', email: 'user0001@example.com', kind: 'template', ref: null } as const
    await store.stageReplacement('r', [{ ...step, id: 'new', text: '1' }], NOW)
    await store.stageReplacement('r', [{ ...step, id: 'newer', text: '1' }], NOW)
    await store[Symbol.asyncDispose]()
    const read = await readSoFar(url)
    expect(read).toBeGreaterThan(0)
    expect(read).toBeLessThan(100)
    const places = `select id, position from workspace_gateway.staged_document where position > 5000 order by 2`
    expect(await execute(url, places)).toEqual([
      { id: 'new', position: 5_001 },
      { id: 'newer', position: 5_002 },
    ])
  })
})
