// Tests that concurrent imports in PostgreSQL take locks in one order, so that they wait for each other and never
// deadlock.
import { Client } from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Change } from '../../src/store/contract.ts'
import { openPostgresStore } from '../../src/store/postgres/open.ts'
import { execute, POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'

const OPTIONS = { connectTimeoutMs: 30_000, statementTimeoutMs: 60_000, poolSize: 2 }
/** Not in the order of the emails: the user who is stored first has the lowest id. */
const EMAILS = ['zoe@example.com', 'max@example.com', 'ana@example.com'] as const
const [FIRST, , LAST] = EMAILS
const NOW = 1_000

/** A connection that takes the locks of an import by hand, and continues when the test tells it to. */
async function openHand(url: string): Promise<Client> {
  const hand = new Client({ connectionString: url })
  // The database may be dropped before the client ends.
  hand.on('error', () => {})
  await hand.connect()
  onTestFinished(() => hand.end())
  return hand
}

/** Waits until one transaction waits for another. */
async function untilOneWaits(url: string): Promise<void> {
  const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  await expect.poll(() => execute(url, waiting), { timeout: 20_000 }).toHaveLength(1)
}

function templateOf(email: string, text: string): Extract<Change, { readonly type: 'putDocument' }> {
  return { type: 'putDocument', kind: 'template', email, id: 't', ref: null, text }
}

function exportSteps(stage: string, createdAt: string): readonly Change[] {
  return [
    { type: 'stageExport', stage, email: FIRST, ref: 'r', createdAt, instant: createdAt, now: NOW },
    { type: 'stageElements', stage, position: 0, texts: ['1'], now: NOW },
    { type: 'sealExport', stage, digest: stage, byteLength: 3, elementCount: 1 },
  ]
}

describe.skipIf(POSTGRES_URL === null)('the order of locks', () => {
  test('a replacement waiting for the user an import locked first holds none that the import locks later', async () => {
    const url = await temporaryDatabase()
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
    const swapping = store.swapReplacement({
      replacement: 'r',
      after: '',
      maxDocuments: 100,
      now: NOW,
      isDryRun: false,
    })
    await untilOneWaits(url)
    await lock(LAST)
    await hand.query('commit')
    expect((await swapping).map(({ email, replaced }) => [email, replaced])).toEqual(
      EMAILS.toReversed().map((email) => [email, 1]),
    )
  })

  test('exports are pruned only after their user is locked, the order in which an import takes locks', async () => {
    const url = await temporaryDatabase()
    await using store = await openPostgresStore(url, OPTIONS)
    const project: Change = { ...templateOf(FIRST, '1'), kind: 'project', ref: 'r' }
    await store.applyChanges([project, ...exportSteps('a', '2026-01-01'), ...exportSteps('b', '2026-01-02')])
    const userId = (await store.userByEmail(FIRST))?.id ?? 0
    const hand = await openHand(url)
    await hand.query(`begin; select id from workspace_gateway.user where id = ${userId} for no key update`)
    const pruning = store.pruneExports({ userId, keep: 1, before: null, after: '' })
    await untilOneWaits(url)
    await hand.query('select id from workspace_gateway.export for update nowait')
    await hand.query('commit')
    expect(await pruning).toMatchObject({ exports: 1, next: null })
  })
})
