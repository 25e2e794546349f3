// A gateway and an import are killed again and again, and nothing that was acknowledged is lost.
import { expect, test } from 'vitest'
import { runCrashRounds } from './support/crash-rounds.ts'
import { randomSeed } from './support/seeded-random.ts'
import { temporaryDirectory } from './support/temporary-directory.ts'

const ROUNDS = 5

test('nothing acknowledged is lost, and nothing is seen in part, when a gateway and an import are killed', async () => {
  const seed = Number(process.env.TEST_CRASH_SEED ?? randomSeed())
  // Printed first, for a run that does not come to its end.
  console.info(`seed of the crash rounds: ${seed}`)
  const { losses, logins, logouts, imports, importsKilled, readyMs } = await runCrashRounds({
    rounds: ROUNDS,
    seed,
    directory: temporaryDirectory(),
  })
  expect(losses, `what was lost with TEST_CRASH_SEED=${seed}`).toEqual([])
  // There was something to lose.
  for (const [what, count] of Object.entries({ logins, logouts, imports, importsKilled })) {
    expect(count, `${what} with TEST_CRASH_SEED=${seed}`).toBeGreaterThan(0)
  }
  expect(readyMs).toHaveLength(1 + ROUNDS)
}, 300_000)
