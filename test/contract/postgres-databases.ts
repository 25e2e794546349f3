// Databases for the contract suites, prepared over a direct connection; stores open them in any way.
import { beforeAll } from 'vitest'
import type { MigratableStore } from '../../src/store/cutover/contract.ts'
import { createDatabase, dropDatabase, execute, temporaryDatabase } from '../support/postgres.ts'
import { countSql } from './workspace-tables.ts'

type Open = (url: string) => Promise<MigratableStore>
type Prepare = (url: string) => Promise<void>

/** One database for all tests of a suite, emptied before each: to create one takes longer than most tests. */
export function emptied(open: Open, prepare: Prepare = async () => {}) {
  let url = ''
  beforeAll(async () => {
    url = await createDatabase()
    const store = await open(url)
    await store[Symbol.asyncDispose]()
    await prepare(url)
    return () => dropDatabase(url)
  })
  return async () => {
    await execute(
      url,
      `delete from workspace_gateway.user; delete from workspace_gateway.session;
       delete from workspace_gateway.signing_key; delete from workspace_gateway.replacement;
       delete from workspace_gateway.staged_user; delete from workspace_gateway.staged_document;
       delete from workspace_gateway.staged_export; delete from workspace_gateway.export_element;
       delete from workspace_gateway.audit_entry; delete from workspace_gateway.removed_name;
       delete from workspace_gateway.rest_call;
       delete from workspace_gateway.rest_call_writer`,
    )
    return {
      store: await open(url),
      reopen: () => open(url),
      async countRows() {
        return Number((await execute(url, countSql('workspace_gateway.')))[0]?.rows)
      },
      hand: (sql: string) => runByHand(url, sql),
    }
  }
}

/** A database for each test. */
export function moving(open: Open, prepare: Prepare = async () => {}) {
  return async () => {
    const url = await temporaryDatabase()
    const store = await open(url)
    await prepare(url)
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
