import { expect, test } from 'vitest'
import { runCrashRounds } from './support/crash-rounds.ts'
import { randomSeed } from './support/seeded-random.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'

const ROUNDS = 8

test('nothing that was acknowledged is lost, and nothing is seen by half, when a gateway and an import are killed', async () => {
  const seed = Number(process.env.TEST_CRASH_SEED ?? randomSeed())
  console.info(`seed of the crash rounds: ${seed}`)
  const { losses, logins, logouts, imports, importsKilled, readyMs } = await runCrashRounds({
    rounds: ROUNDS,
    seed,
    directory: temporaryDirectory(),
  })
  expect(losses).toEqual([])
  // There was something to lose.
  for (const count of [logins, logouts, imports, importsKilled]) expect(count).toBeGreaterThan(0)
  expect(readyMs).toHaveLength(1 + ROUNDS)
}, 120_000)
