// The whole way in small; `npm run test:movein` goes it with a thousand users and an export of 50 MB.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { randomSeed } from '../support/seeded-random.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { moveInAnAfternoon } from './afternoon.ts'

const SAMPLE = process.env.TEST_WORKSPACES ?? new URL('../../src/cli/demo/demo-workspace.ndjson', import.meta.url)

test('an old server moves in within an afternoon: nothing differs, and no request fails', async () => {
  const lines: string[] = []
  const { wrong, requests, comparedAnswers } = await moveInAnAfternoon({
    directory: temporaryDirectory(),
    sample: readFileSync(SAMPLE, 'utf8'),
    users: 12,
    exportBytes: 2_000_000,
    writes: 40,
    clients: 3,
    seed: randomSeed(),
    log: (line) => lines.push(line),
  })
  expect(wrong, lines.join('\n')).toEqual([])
  expect([requests > 20, comparedAnswers > 50], lines.join('\n')).toEqual([true, true])
})
