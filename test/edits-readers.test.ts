// Requests beside another connection that changes references, replaces workspaces and removes users: no answer is stale,
// or shows a part of a replacement.
import { describe, expect, test } from 'vitest'
import { openStore } from '../src/store/open-store.ts'
import { removeBesideReaders } from './edits/removals-beside-readers.ts'
import { startGateway } from './support/gateway.ts'
import { POSTGRES_URL, temporaryDatabase } from './support/postgres.ts'

/** `npm run test:removals` removes 10,000 users. */
const USERS = Number(process.env.TEST_REMOVALS ?? 100)
const OPTIONS = {
  lockTimeoutMs: 5_000,
  connectTimeoutMs: 30_000,
  statementTimeoutMs: 10_000,
  poolSize: 2,
  onFatal(error: unknown) {
    throw error
  },
}

async function run(databaseUrl?: string): Promise<void> {
  const gateway = await startGateway(databaseUrl === undefined ? {} : { databaseUrl })
  await using remover = await openStore(gateway.databaseUrl, OPTIONS)
  const report = await removeBesideReaders(gateway, remover, USERS)
  expect([report.stale, report.wrong, report.mixed]).toEqual([[], [], []])
  expect(report.reads).toBeGreaterThan(USERS)
  if (USERS > 1_000)
    console.log(`${report.removed} users changed, replaced and removed beside ${report.reads} reads: 0 stale answers`)
}

describe('the next request sees what another connection changed, replaced and removed, as a whole', {
  timeout: 3_600_000,
}, () => {
  test('on SQLite', () => run())

  test.skipIf(POSTGRES_URL === null)('on PostgreSQL', async () => run(await temporaryDatabase()))
})
