// The whole way from an old server to this one, in small; `npm run test:movein` takes a thousand users and 50 MB.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { randomSeed } from '../support/seeded-random.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { moveInAnAfternoon } from './afternoon/afternoon.ts'

const SAMPLE = process.env.TEST_WORKSPACES ?? new URL('../../src/cli/demo/demo-workspace.ndjson', import.meta.url)

test('moving in from an old server finds no difference and fails no request', async () => {
  const lines: string[] = []
  const directory = temporaryDirectory()
  const { wrong, requests, comparedAnswers, shadowComparisons } = await moveInAnAfternoon({
    directory,
    database: `file:${join(directory, 'new.db')}`,
    sample: readFileSync(SAMPLE, 'utf8'),
    users: 6,
    exportBytes: 500_000,
    writes: 24,
    clients: 3,
    seed: randomSeed(),
    log: (line) => lines.push(line),
  })
  expect(wrong, lines.join('\n')).toEqual([])
  expect([requests > 20, comparedAnswers > 50, shadowComparisons > 20], lines.join('\n')).toEqual([true, true, true])
  // Half a minute of processor time, in several processes.
})
