import { describe, expect, test } from 'vitest'
import { type Change, StagedExportGoneError } from '../../src/store/contract.ts'
import type { MigratableStore } from '../../src/store/cutover/contract.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { CLOCKS_DIFFER_MS } from '../../src/store/session-contract.ts'
import type { CodeRequest } from '../../src/store/sign-in/code-contract.ts'
import { DROPPED_AT, ReplacementGoneError, type ReplacementStep } from '../../src/store/workspace-edits.ts'
import { CODE_RULES } from '../contract/values.ts'
import { createdDatabases, execute, openHand, POSTGRES_URL, untilWaiting } from '../support/postgres.ts'

/** Writes hold half of the pool, and two of them run at a time. */
const OPTIONS = { connectTimeoutMs: 30_000, statementTimeoutMs: 60_000, poolSize: 4 }
/** Not in the order of the emails: the user who is stored first has the lowest id. */
const EMAILS = ['zoe@example.com', 'max@example.com', 'ana@example.com'] as const
const [FIRST, , LAST] = EMAILS
const NOW = 1_000
const REQUEST: CodeRequest = {
  id: 'r',
  email: LAST,
  network: '192.0.2.1',
  agent: '',
  kid: 'k',
  codeHash: 'c',
  isEligible: true,
  askedAt: NOW,
}

/** Waits until one transaction waits for another. */
function untilOneWaits(url: string): Promise<void> {
  return untilWaiting(url, 1)
}

function templateOf(email: string, text: string): Extract<Change, { readonly type: 'putDocument' }> {
  return { type: 'putDocument', kind: 'template', email, id: 't', ref: null, text }
}

function stagedProject(email: string, id: string): ReplacementStep {
  return { type: 'stageDocument', kind: 'project', email, id, ref: id, text: `"${id}"` }
}

function stagedExport(email: string, ref: string): readonly ReplacementStep[] {
  const [stage, createdAt] = [`export of ${ref}`, '2026-01-01']
  return [
    { type: 'stageExport', stage, email, ref, createdAt, instant: createdAt },
    { type: 'stageElements', stage, position: 1, texts: ['1'] },
    { type: 'sealExport', stage, digest: 'd', byteLength: 3, elementCount: 1 },
  ]
}

function swap(store: MigratableStore, replacement: string) {
  return store.swapReplacement({ replacement, after: '', maxDocuments: 100, now: NOW, isDryRun: false })
}

/** The ids of the user's projects; null if there is no such user. */
async function projectsOf(store: MigratableStore, email: string): Promise<readonly string[] | null> {
  const user = await store.userByEmail(email)
  if (!user) return null
  const [projects = []] = await store.documentsOf([{ userId: user.id, kind: 'project', after: 0, limit: null }])
  return projects.map(({ id }) => id)
}

/** The texts of the elements of the newest export of a project. */
async function elementsOf(store: MigratableStore, email: string, ref: string): Promise<readonly string[]> {
  const userId = (await store.userByEmail(email))?.id ?? 0
  const [newest] = await store.latestExports([{ userId, ref }])
  const [elements = []] = await store.elementsOf([{ userId, exportId: newest?.id ?? 0, after: 0, limit: null }])
  return elements.map(({ text }) => text)
}

function exportSteps(stage: string, createdAt: string): readonly Change[] {
  return [
    { type: 'stageExport', stage, email: FIRST, ref: 'r', createdAt, instant: createdAt, now: NOW },
    { type: 'stageElements', stage, position: 0, texts: ['1'], now: NOW },
    { type: 'sealExport', stage, digest: stage, byteLength: 3, elementCount: 1 },
  ]
}

describe.skipIf(POSTGRES_URL === null)('the order of locks', () => {
  const createdDatabase = createdDatabases()

  test('a replacement waiting for the user an import locked first holds none that the import locks later', async () => {
    const url = await createdDatabase()
    await using store = await openPostgresStore(url, OPTIONS)
    for (const email of EMAILS) await store.applyChanges([templateOf(email, '1')])
    await store.beginReplacement('r', NOW)
    const steps = EMAILS.map((email) => ({ ...templateOf(email, '2'), type: 'stageDocument' }) as const)
    await store.stageReplacement('r', steps, NOW)
    const hand = await openHand(url)
    const lock = (email: string) =>
      hand.query(`select id from workspace_gateway.user where email = '${email}' for no key update nowait`)
    await hand.query('begin')
    await lock(FIRST)
    const swapping = swap(store, 'r')
    await untilOneWaits(url)
    await lock(LAST)
    await hand.query('commit')
    expect((await swapping).map(({ email, replaced }) => [email, replaced])).toEqual(
      EMAILS.toReversed().map((email) => [email, 1]),
    )
  })

  test('an import waits for no user whom another import has added while it added others', async () => {
    const url = await createdDatabase()
    await using store = await openPostgresStore(url, OPTIONS)
    const [added, alsoAdded, meanwhile] = ['a@example.com', 'b@example.com', 'c@example.com'] as const
    const hand = await openHand(url, `begin; insert into workspace_gateway.user (email) values ('${alsoAdded}')`)
    const texts = [meanwhile, alsoAdded, added].map((email) => templateOf(email, '1'))
    const importing = store.applyChanges([...texts, { type: 'addUser', email: added }])
    await untilOneWaits(url)
    // As another import, which then waits for the user whom the first one has added.
    await store.applyChanges([templateOf(meanwhile, '2')])
    const other = await openHand(
      url,
      `begin; select 1 from workspace_gateway.user where email = '${meanwhile}' for no key update`,
    )
    const waiting = other.query(`insert into workspace_gateway.user (email) values ('${added}')`)
    await untilWaiting(url, 2)
    await hand.query('commit')
    await waiting
    await other.query('rollback')
    expect(await importing).toEqual(['replaced', 'added', 'added', 'unchanged'])
  })

  test('a replacement waits for no user whom an import has added while it added others', async () => {
    const url = await createdDatabase()
    await using store = await openPostgresStore(url, OPTIONS)
    const [added, alsoAdded, meanwhile] = ['a@example.com', 'b@example.com', 'c@example.com'] as const
    await store.beginReplacement('r', NOW)
    const staged = [added, alsoAdded, meanwhile].map((email) => stagedProject(email, 'p'))
    await store.stageReplacement('r', staged, NOW)
    const hand = await openHand(url, `begin; insert into workspace_gateway.user (email) values ('${alsoAdded}')`)
    const swapping = swap(store, 'r')
    await untilOneWaits(url)
    await store.applyChanges([templateOf(meanwhile, '1')])
    // An import, which looks for a deadlock as soon as it waits.
    const other = await openHand(url)
    await other.query(`begin; set local deadlock_timeout = 1;
      select 1 from workspace_gateway.user where email = '${meanwhile}' for no key update`)
    await hand.query('rollback')
    await untilOneWaits(url)
    await other.query(`insert into workspace_gateway.user (email) values ('${added}')`)
    await other.query('commit')
    expect((await swapping).map(({ email, removed }) => [email, removed])).toEqual([
      [added, 0],
      [alsoAdded, 0],
      [meanwhile, 1],
    ])
    expect(await projectsOf(store, meanwhile)).toEqual(['p'])
  })

  test('a gateway waits for no mail, sign-in, network or call that another gateway works on', async () => {
    const url = await createdDatabase()
    await using store = await openPostgresStore(url, { ...OPTIONS, statementTimeoutMs: 10_000 })
    const tables = ['outbox', 'pending_sign_in', 'known_network', 'rest_call', 'rest_call_writer']
    const [past, future] = [NOW - 1, NOW + 10 * CLOCKS_DIFFER_MS]
    for (const id of ['held', 'free']) {
      await execute(
        url,
        `insert into workspace_gateway.outbox (id, email, network, agent, kid, asked_at, expires_at, due_at)
          values ('${id}', 'e', 'n', '', 'k', 0, ${future}, ${past}), ('${id} too late', 'e', 'n', '', 'k', 0, ${future}, ${future});
        insert into workspace_gateway.pending_sign_in values ('${id}', 'n', '${id}', 'k', '', false, 0, ${past});
        insert into workspace_gateway.known_network values ('${id}', 'a', ${past - CODE_RULES.knownNetworkTtlMs});
        insert into workspace_gateway.rest_call values ('2026-01-01', '${id}', '', 1, 0);
        insert into workspace_gateway.rest_call_writer values ('${id}', 1, '2026-01-01')`,
      )
    }
    const hand = await openHand(url)
    const lock = (table: string) =>
      hand.query(`select 1 from workspace_gateway.${table} t where t::text ~ 'held' for update nowait`)
    await hand.query('begin')
    for (const table of tables) await lock(table)
    expect((await store.leaseMails({ owner: 'w', leaseMs: 1_000, limit: 9 }, NOW)).map(({ id }) => id)).toEqual([
      'free',
    ])
    await store.addCodeRequests([REQUEST])
    expect(await store.decideCodeRequests(CODE_RULES, NOW, 9)).toHaveLength(1)
    expect(await store.removeRestCalls('2026-01-02', 9)).toBe(1)
    const left = (table: string, column: string) =>
      execute(url, `select ${column} as name from workspace_gateway.${table} where ${column} ~ 'held|free' order by 1`)
    expect(await left('outbox', 'id')).toMatchObject([{ name: 'free' }, { name: 'held' }, { name: 'held too late' }])
    expect(await left('pending_sign_in', 'id')).toMatchObject([{ name: 'held' }])
    expect(await left('known_network', 'key')).toMatchObject([{ name: 'held' }])
    expect(await left('rest_call', 'route')).toMatchObject([{ name: 'held' }])
    expect(await left('rest_call_writer', 'writer')).toMatchObject([{ name: 'held' }])
  })

  test('exports are pruned only after their user is locked, the order in which an import takes locks', async () => {
    const url = await createdDatabase()
    await using store = await openPostgresStore(url, OPTIONS)
    const project: Change = { ...templateOf(FIRST, '1'), kind: 'project', ref: 'r' }
    await store.applyChanges([project, ...exportSteps('a', '2026-01-01'), ...exportSteps('b', '2026-01-02')])
    const userId = (await store.userByEmail(FIRST))?.id ?? 0
    const hand = await openHand(
      url,
      `begin; select id from workspace_gateway.user where id = ${userId} for no key update`,
    )
    const pruning = store.pruneExports({ userId, keep: 1, before: null, after: '' })
    await untilOneWaits(url)
    await hand.query('select id from workspace_gateway.export for update nowait')
    await hand.query('commit')
    expect(await pruning).toMatchObject({ exports: 1, next: null })
  })

  test('pruning neither waits for users who have no export to prune nor locks them', async () => {
    const url = await createdDatabase()
    await using store = await openPostgresStore(url, OPTIONS)
    const project: Change = { ...templateOf(FIRST, '1'), kind: 'project', ref: 'r' }
    await store.applyChanges([project, ...exportSteps('a', '2026-01-01')])
    const userId = (await store.userByEmail(FIRST))?.id ?? 0
    const hand = await openHand(url, `begin; select id from workspace_gateway.user where id = ${userId} for update`)
    const rule = { userId, keep: 1, before: null, after: '' }
    expect(await store.pruneExports(rule)).toEqual({ exports: 0, byteLength: 0, next: null })
    await hand.query('rollback')
  })

  test('a removal waits for no replacement that stages after it, and leaves it whole', async () => {
    const url = await createdDatabase()
    await using store = await openPostgresStore(url, OPTIONS)
    await store.applyChanges([{ ...templateOf(FIRST, '1'), kind: 'project', id: 'old', ref: 'old' }])
    await store.beginReplacement('ended', NOW)
    await store.stageReplacement('ended', [stagedProject(FIRST, 'c')], NOW)
    const hand = await openHand(
      url,
      `begin; select id from workspace_gateway.user where email = '${FIRST}' for no key update`,
    )
    const removing = store.removeUsers([FIRST])
    await untilOneWaits(url)
    await store.beginReplacement('r', NOW)
    await store.stageReplacement('r', [stagedProject(FIRST, 'a'), ...stagedExport(FIRST, 'a')], NOW)
    // As in a step of the replacement, which may wait for the user that the removal is about to lock.
    const step = await openHand(
      url,
      `begin; select name from workspace_gateway.replacement where name = 'r' for update`,
    )
    await hand.query('commit')
    expect(await removing).toMatchObject([{ projects: 1 }])
    expect(await projectsOf(store, FIRST)).toBeNull()
    await step.query('commit')
    await expect(swap(store, 'ended')).rejects.toThrow(ReplacementGoneError)
    await store.stageReplacement('r', [stagedProject(FIRST, 'b')], NOW)
    expect(await swap(store, 'r')).toMatchObject([{ email: FIRST, added: 3 }])
    expect(await projectsOf(store, FIRST)).toEqual(['a', 'b'])
    expect(await elementsOf(store, FIRST, 'a')).toEqual(['1'])
  })

  test('a removal that ends one replacement takes no part of one that stages after it', async () => {
    const url = await createdDatabase()
    await using store = await openPostgresStore(url, OPTIONS)
    await store.beginReplacement('ended', NOW)
    await store.stageReplacement('ended', stagedExport(FIRST, 'r'), NOW)
    const hand = await openHand(url, 'begin; select 1 from workspace_gateway.export_element for update')
    const removing = store.removeUsers([FIRST])
    await untilOneWaits(url)
    await store.beginReplacement('r', NOW)
    await store.stageReplacement('r', [stagedProject(FIRST, 'a')], NOW)
    await hand.query('commit')
    await removing
    await expect(swap(store, 'ended')).rejects.toThrow(ReplacementGoneError)
    await store.stageReplacement('r', [stagedProject(FIRST, 'b')], NOW)
    await swap(store, 'r')
    expect(await projectsOf(store, FIRST)).toEqual(['a', 'b'])
  })

  test('an export that is being dropped as stale takes no further elements, and stays dropped', async () => {
    const url = await createdDatabase()
    await using store = await openPostgresStore(url, OPTIONS)
    const [begin, fill] = exportSteps('s', '2026-01-01')
    await store.applyChanges([begin, fill].flatMap((step) => step ?? []))
    const hand = await openHand(url, `begin; update workspace_gateway.staged_export set staged_at = ${DROPPED_AT}`)
    const more: Change = { type: 'stageElements', stage: 's', position: 1, texts: ['2'], now: NOW }
    const adding = expect(store.applyChanges([more])).rejects.toThrow(StagedExportGoneError)
    await untilOneWaits(url)
    await hand.query('commit')
    await adding
    await store.dropStaleStages(NOW)
    expect(await execute(url, 'select 1 from workspace_gateway.export_element')).toEqual([])
  })

  test('what is staged for a user who is being renamed becomes a user of its own', async () => {
    const url = await createdDatabase()
    await using store = await openPostgresStore(url, OPTIONS)
    await store.applyChanges([{ ...templateOf(FIRST, '1'), kind: 'project', id: 'old', ref: 'old' }])
    const hand = await openHand(
      url,
      `begin; select id from workspace_gateway.user where email = '${FIRST}' for no key update`,
    )
    const renaming = store.renameUser(FIRST, LAST)
    await untilOneWaits(url)
    await store.beginReplacement('r', NOW)
    await store.stageReplacement('r', [stagedProject(FIRST, 'a'), ...stagedExport(FIRST, 'a')], NOW)
    await hand.query('commit')
    expect(await renaming).toBe('renamed')
    expect(await swap(store, 'r')).toMatchObject([{ email: FIRST, added: 2 }])
    expect([await projectsOf(store, FIRST), await projectsOf(store, LAST)]).toEqual([['a'], ['old']])
    expect(await elementsOf(store, FIRST, 'a')).toEqual(['1'])
  })
})
