// A PostgreSQL target with users who are gone from the source and take longer to remove than a statement may last.
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { move } from '../../src/migration/offline.ts'
import { openStore } from '../../src/store/open-store.ts'
import { put } from '../contract/values.ts'
import { execute, POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const STORE = { lockTimeoutMs: 5_000, connectTimeoutMs: 30_000, poolSize: 4, onFatal() {} }
const OPTIONS = { onProgress() {}, onTracesLeft() {}, stop: new AbortController().signal }
const USERS = 300

describe.skipIf(POSTGRES_URL === null)('a move into PostgreSQL', () => {
  test('removes users whose exports take longer to remove than a statement may last', async () => {
    const url = await temporaryDatabase()
    const source = await openStore(`file:${join(temporaryDirectory(), 'from.db')}`, {
      ...STORE,
      statementTimeoutMs: 10_000,
    })
    onTestFinished(() => source[Symbol.asyncDispose]())
    const target = await openStore(url, { ...STORE, statementTimeoutMs: 500 })
    onTestFinished(() => target[Symbol.asyncDispose]())
    await source.applyChanges([put()])
    await move(source, target, OPTIONS)
    // Users that an earlier run has copied: one has an export of 600,000 elements, the others have 1,000 each.
    await execute(
      url,
      `set search_path to workspace_gateway;
       insert into "user" (id, email) overriding system value select i, i || '@example.com' from generate_series(1000, ${999 + USERS}) i;
       insert into staged_export (id, stage, user_id, ref, created_at, instant, staged_at) overriding system value
         select id, id, id, 'r', '', '', 1 from "user" where id >= 1000;
       insert into export_element select id, id, n, '1' from "user", generate_series(1, case id when 1000 then 600000 else 1000 end) n
         where id >= 1000;
       insert into export select id, id, 'r', '', '', 'd', 1, 1000 from "user" where id >= 1000;
       delete from staged_export`,
    )
    expect(await move(source, target, OPTIONS)).toMatchObject({ users: 1, usersThereBefore: 1 })
    expect(await target.usersAfter('', 9)).toHaveLength(1)
    const [left] = await execute(url, 'select count(*)::int as count from workspace_gateway.export_element')
    expect(left?.count).toBe(0)
  })
})
