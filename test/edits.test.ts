// Random sequences of edits, compared with a model.
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { openStore } from '../src/store/open-store.ts'
import { runEdits } from './edits/run-edits.ts'
import { POSTGRES_URL, temporaryDatabase } from './support/postgres.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'

/** `npm run test:edits` plays more sequences. */
const SEQUENCES = Number(process.env.TEST_EDITS ?? 6)
const STEPS = 12
const SEED = Number(process.env.TEST_EDITS_SEED ?? Date.now() % 1_000_000)
const OPTIONS = {
  lockTimeoutMs: 5_000,
  connectTimeoutMs: 30_000,
  statementTimeoutMs: 10_000,
  poolSize: 4,
  onFatal(error: unknown) {
    throw error
  },
}
async function play(databaseUrl: string): Promise<void> {
  const input = join(temporaryDirectory(), 'input.ndjson')
  await using store = await openStore(databaseUrl, OPTIONS)
  for (let n = 0; n < SEQUENCES; n += 1) {
    await runEdits(store, STEPS, SEED + n, input)
    await store.removeUsers(['ana@example.com', 'ben@example.com', 'cat@example.com'])
  }
}

describe('random imports, replacements, removals and renames leave what the model says', { timeout: 3_600_000 }, () => {
  test('on SQLite', () => play(`file:${join(temporaryDirectory(), 'workspace.db')}`))

  test.skipIf(POSTGRES_URL === null)('on PostgreSQL', async () => play(await temporaryDatabase()))
})
