// Tests removals, replacements and long texts that take longer on PostgreSQL than a statement may last.
import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type Change, StoreUnavailableError } from '../src/store/contract.ts'
import type { MigratableStore } from '../src/store/cutover/contract.ts'
import { openPostgresStore } from '../src/store/postgres/open.ts'
import type { ReplacementStep } from '../src/store/workspace-edits.ts'
import { ANA, BEN, MADE, NOW, put } from './contract/values.ts'
import { createdDatabases, execute, openHand, POSTGRES_URL } from './support/postgres.ts'

const OPTIONS = { connectTimeoutMs: 30_000, statementTimeoutMs: 10_000, poolSize: 2 }

function exportSteps(email: string, ref: string, texts: readonly string[] = ['1']) {
  const stage = randomUUID()
  return [
    { type: 'stageExport', stage, email, ref, ...MADE, now: NOW },
    { type: 'stageElements', stage, position: 1, texts, now: NOW },
    { type: 'sealExport', stage, digest: 'd', byteLength: 1, elementCount: texts.length },
  ] as const
}

/** Changes a database so that a statement that deletes from the table must have a time limit. */
async function timed(url: string, table: 'document' | 'export_element'): Promise<string> {
  await execute(
    url,
    `create function workspace_gateway.timed() returns trigger language plpgsql as $$
      begin
        if current_setting('statement_timeout') = '0' then raise exception 'no timeout'; end if;
        return null;
      end $$;
    create trigger timed after delete on workspace_gateway.${table}
      for each statement execute function workspace_gateway.timed()`,
  )
  return url
}

/**
 * Changes a database so that every statement that removes elements or documents exceeds its statement timeout, if it has
 * one.
 */
function slowDown(url: string): Promise<unknown> {
  return execute(
    url,
    `create function workspace_gateway.last_long() returns trigger language plpgsql as $$
      begin
        if current_setting('statement_timeout') <> '0' and exists (select 1 from gone) then
          raise exception using errcode = '57014', message = 'canceling statement due to statement timeout';
        end if;
        if current_setting('idle_in_transaction_session_timeout') = '0' then
          raise exception 'a client that has vanished would hold these locks';
        end if;
        return null;
      end $$;
    create trigger last_long after delete on workspace_gateway.export_element referencing old table as gone
      for each statement execute function workspace_gateway.last_long();
    create trigger last_long after delete on workspace_gateway.document referencing old table as gone
      for each statement execute function workspace_gateway.last_long()`,
  )
}

async function elementsOf(url: string): Promise<number> {
  return (await execute(url, 'select 1 from workspace_gateway.export_element')).length
}

async function apply(store: MigratableStore, change: Change): Promise<unknown> {
  return (await store.applyChanges([change]))[0]
}

async function prune(store: MigratableStore): Promise<unknown> {
  const userId = (await store.userByEmail(ANA))?.id ?? 0
  return (await store.pruneExports({ userId, keep: 0, before: null, after: '' })).exports === 1 && 'removed'
}

describe.skipIf(POSTGRES_URL === null)('slow removals on PostgreSQL', () => {
  const createdDatabase = createdDatabases()
  const slowDatabase = createdDatabases(slowDown)

  test.each<[what: string, remove: (store: MigratableStore) => Promise<unknown>]>([
    ['a user', async (store) => (await store.removeUsers([ANA]))[0]?.exports === 1 && 'removed'],
    ['a user, as a step of an import', (store) => apply(store, { type: 'removeUser', email: ANA })],
    ['a project', (store) => apply(store, { type: 'removeDocument', email: ANA, kind: 'project', id: 'p' })],
    ['exports', (store) => apply(store, { type: 'removeExports', email: ANA, ref: 'r', instant: null, digest: null })],
    ['an export, by its age', prune],
  ])('the removal of %s completes, however long it takes', async (_, remove) => {
    const url = await slowDatabase()
    await using store = await openPostgresStore(url, OPTIONS)
    await store.applyChanges([put(), ...exportSteps(ANA, 'r')])
    expect(await elementsOf(url)).toBe(1)
    expect(await remove(store)).toBe('removed')
    expect(await elementsOf(url)).toBe(0)
  })

  test('a short removal runs with the statement timeout', async () => {
    const url = await timed(await createdDatabase(), 'export_element')
    await using store = await openPostgresStore(url, OPTIONS)
    await store.applyChanges([put(), ...exportSteps(ANA, 'r')])
    expect((await store.removeUsers([ANA]))[0]).toMatchObject({ exports: 1 })
  })

  test('sealing an export that is already stored removes its staged elements, however long it takes', async () => {
    const url = await slowDatabase()
    await using store = await openPostgresStore(url, OPTIONS)
    await store.applyChanges([put(), ...exportSteps(ANA, 'r')])
    const [staging, ...filling] = exportSteps(ANA, 'r')
    await store.applyChanges([staging])
    expect(await store.applyChanges(filling)).toEqual(['staged', 'unchanged'])
    expect(await elementsOf(url)).toBe(1)
  })

  test('long texts are imported, staged and copied, however long it takes; short ones have the statement timeout', async () => {
    const url = await createdDatabase()
    const lateWhenTimed = `create function workspace_gateway.late() returns trigger language plpgsql as $$
      begin
        if current_setting('statement_timeout') <> '0' then
          raise exception using errcode = '57014', message = 'canceling statement due to statement timeout';
        end if;
        return null;
      end $$`
    await execute(url, lateWhenTimed)
    for (const table of ['document', 'export_element', 'staged_document']) {
      await execute(
        url,
        `create trigger late after insert on workspace_gateway.${table}
           for each statement execute function workspace_gateway.late()`,
      )
    }
    const text = JSON.stringify('x'.repeat(16_777_216))
    await using store = await openPostgresStore(url, OPTIONS)
    await expect(apply(store, put())).rejects.toThrow(StoreUnavailableError)
    expect(await apply(store, put({ text }))).toBe('added')
    expect(await store.applyChanges(exportSteps(ANA, 'r', [text]))).toEqual(['staged', 'staged', 'added'])
    await store.beginReplacement('r', NOW)
    const document = { kind: 'template', id: 't', ref: null, text } as const
    await store.stageReplacement('r', [{ type: 'stageDocument', email: ANA, ...document }], NOW)
    // The steps of a move.
    await execute(url, `update workspace_gateway.move set phase = 'filling', move_id = 'm'`)
    const [user] = await execute(url, 'select id::int from workspace_gateway.user')
    const copy = { type: 'addDocument', userId: Number(user?.id), position: 1, ...document } as const
    expect(await store.applyCopies('m', [copy])).toBe(true)
  })

  test('renaming a user removes the data staged for that user, however long it takes', async () => {
    const url = await slowDatabase()
    await using store = await openPostgresStore(url, OPTIONS)
    await store.applyChanges([put()])
    await store.beginReplacement('r', NOW)
    await store.stageReplacement('r', exportSteps(ANA, 'r'), NOW)
    expect(await store.renameUser(ANA, BEN)).toBe('renamed')
    expect(await elementsOf(url)).toBe(0)
  })

  test.each<[what: string, remove: (store: MigratableStore) => unknown]>([
    ['a command', (store) => store.removeUsers([ANA])],
    ['an import', (store) => store.applyChanges([{ type: 'removeUser', email: ANA }])],
  ])('a removal by %s waits for the lock of another client no longer than a statement may last', async (_, remove) => {
    const url = await createdDatabase()
    await using store = await openPostgresStore(url, { ...OPTIONS, statementTimeoutMs: 1_000 })
    await store.applyChanges([put()])
    const hand = await openHand(url, 'begin; select 1 from workspace_gateway.user for update')
    await expect(remove(store)).rejects.toThrow(StoreUnavailableError)
    await hand.query('rollback')
    expect(await store.userByEmail(ANA)).not.toBeNull()
  })

  test.each<[what: string, stored: readonly Change[], staged: readonly ReplacementStep[]]>([
    ['an export', [put(), ...exportSteps(ANA, 'r')], []],
    ['a document', [put()], []],
    ['what lay elsewhere before the user was added', [put()], exportSteps(ANA, 'r')],
  ])('a replacement removes what it leaves out, however long it takes: %s', async (_, stored, staged) => {
    const url = await slowDatabase()
    await using store = await openPostgresStore(url, OPTIONS)
    await store.beginReplacement('r', NOW)
    const users = ['abe@example.com', ANA].map((email) => ({ type: 'stageUser', email }) as const)
    await store.stageReplacement('r', [...users, ...staged], NOW)
    await store.applyChanges(stored)
    const question = { replacement: 'r', after: '', maxDocuments: 64, isDryRun: false, now: NOW }
    expect(await store.swapReplacement(question)).toHaveLength(2)
    expect((await store.holdingsOf([ANA]))[0]).toMatchObject({ projects: 0 })
  })

  test('a short replacement runs with the statement timeout, however much else is stored', async () => {
    const many = Array.from({ length: 10_001 }, (_, n) => `${n}`)
    const url = await timed(await createdDatabase(), 'document')
    await using store = await openPostgresStore(url, OPTIONS)
    await store.applyChanges([put(), put({ id: 'q', ref: 'q' }), ...exportSteps(ANA, 'r', many)])
    await store.beginReplacement('r', NOW)
    const kept = { type: 'stageDocument', email: ANA, kind: 'project', id: 'p', ref: 'r', text: '{"id":"p"}' } as const
    await store.stageReplacement('r', [kept], NOW)
    const question = { replacement: 'r', after: '', maxDocuments: 64, isDryRun: false, keepsExports: true, now: NOW }
    expect(await store.swapReplacement(question)).toMatchObject([{ removed: 1 }])
    expect(await elementsOf(url)).toBe(many.length)
  })
})
