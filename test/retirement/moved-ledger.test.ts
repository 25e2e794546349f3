// Tests the ledger of a gateway whose database has moved: it shows what the next database counts.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { storeOptions } from '../../src/cli/options/database-options.ts'
import { parseOptions } from '../../src/cli/options/option.ts'
import { readLedger } from '../../src/cli/retirement/read-ledger.ts'
import { runHere } from '../support/command-line.ts'
import { openTestStore } from '../support/sqlite-store.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { SMALL_WORLD } from '../support/workspaces.ts'

const NOW = Date.UTC(2026, 0, 1, 12)

test('calls counted after a move are in the ledger once, although both databases are named', async () => {
  const directory = temporaryDirectory()
  const [before, after] = ['old', 'new'].map((name) => join(directory, `${name}.db`)) as [string, string]
  await runHere(['import', '-', '--database', `file:${before}`], { stdin: SMALL_WORLD })
  const moved = await runHere(['move', '--from', `file:${before}`, '--to', `file:${after}`, '--online'])
  expect([moved.exitCode, moved.stderr]).toEqual([0, expect.any(String)])
  {
    await using store = await openTestStore(after)
    await store.activate()
    const calls = [{ day: '2026-01-01', route: 'GET /projects', client: 'web', count: 3, lastSeen: NOW }]
    await store.addRestCalls({ writer: 'w', sequence: 1, calls })
  }
  const config = {
    ...parseOptions(storeOptions, {}),
    database: `file:${before}`,
    databaseNext: `file:${after}`,
  }
  expect(await readLedger(config, 1, NOW)).toEqual([expect.objectContaining({ route: 'GET /projects', count: 3 })])
})
