// Databases for the contract suites, prepared over a direct connection; stores open them in any way.
import { Client } from 'pg'
import { beforeAll } from 'vitest'
import type { MigratableStore } from '../../src/store/cutover/contract.ts'
import { createDatabase, dropDatabase, execute, temporaryCopy, temporaryDatabase } from '../support/postgres.ts'
import { type DatabaseForMoving, MOVE } from './moving.ts'
import { countSql } from './workspace-tables.ts'

const END_OTHERS = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()`

type Open = (url: string) => Promise<MigratableStore>
type Prepare = (url: string) => Promise<void>

/**
 * One database and one store for all tests of a suite, emptied before each: to create a database, and to connect to it,
 * takes longer than most tests.
 */
export function emptied(open: Open, prepare: Prepare = async () => {}) {
  let url = ''
  let shared: MigratableStore
  let hand: Client
  beforeAll(async () => {
    url = await createDatabase()
    shared = await open(url)
    await prepare(url)
    hand = new Client({ connectionString: url })
    await hand.connect()
    return async () => {
      await hand.end()
      await shared[Symbol.asyncDispose]()
      await dropDatabase(url)
    }
  })
  return async () => {
    await hand.query(
      `delete from workspace_gateway.user; delete from workspace_gateway.session;
       delete from workspace_gateway.signing_key; delete from workspace_gateway.replacement;
       delete from workspace_gateway.staged_user; delete from workspace_gateway.staged_document;
       delete from workspace_gateway.staged_export; delete from workspace_gateway.export_element;
       delete from workspace_gateway.audit_entry; delete from workspace_gateway.removed_name;
       delete from workspace_gateway.rest_call;
       delete from workspace_gateway.rest_call_writer`,
    )
    return {
      // The next test needs the connections again.
      store: { ...shared, async [Symbol.asyncDispose]() {} },
      reopen: () => open(url),
      async countRows() {
        return Number((await hand.query(countSql('workspace_gateway.'))).rows[0]?.rows)
      },
      hand: (sql: string) => runByHand(url, sql),
    }
  }
}

/** A database for each test: a copy, unless the test needs one that the store has created. */
export function moving(open: Open, prepare: Prepare = async () => {}) {
  let empty = ''
  let begun = ''
  async function create(): Promise<string> {
    const url = await createDatabase()
    await using _ = await open(url)
    await prepare(url)
    return url
  }
  beforeAll(async () => {
    empty = await create()
    begun = await create()
    {
      await using store = await open(begun)
      await store.beginMove(MOVE)
    }
    // A pooler keeps connections, and a database that somebody uses cannot be copied.
    for (const url of [empty, begun]) await execute(url, END_OTHERS)
    return async () => {
      for (const url of [empty, begun]) await dropDatabase(url)
    }
  })
  return async ({ isCreated = false, isMoving = false }: DatabaseForMoving = {}) => {
    const url = isCreated ? await temporaryDatabase() : await temporaryCopy(isMoving ? begun : empty)
    const store = await open(url)
    if (isCreated) await prepare(url)
    return {
      store,
      reopen: () => open(url),
      hand: (sql: string) => runByHand(url, sql),
    }
  }
}

async function runByHand(url: string, sql: string): Promise<void> {
  await execute(url, `set search_path to workspace_gateway; ${sql}`)
}
