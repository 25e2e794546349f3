// Tests that power cuts lose nothing that was acknowledged.
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { runCrashRounds } from '../support/crash-rounds.ts'
import { buildFaultLibrary, canMountLazyDisk, hasFuse } from '../support/faults.ts'
import { mountLazyDisk } from '../support/lazy-disk.ts'
import { cutPower } from '../support/power-cut.ts'
import { roundsOnLazyDisk } from '../support/power-cut-rounds.ts'
import { randomSeed } from '../support/seeded-random.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/** npm run test:faults makes 200 cuts. */
const CUTS = 2

const offersDisk = hasFuse()
const canMountDisk = offersDisk && (await canMountLazyDisk())

if (offersDisk) {
  test.skipIf(!canMountDisk)(
    'a power cut of a lazy disk loses nothing that was acknowledged',
    { timeout: 300_000 },
    async () => {
      const seed = Number(process.env.TEST_CRASH_SEED ?? randomSeed())
      await using disk = await mountLazyDisk()
      const { losses, logins, logouts, imports } = await runCrashRounds({
        rounds: CUTS,
        seed,
        directory: temporaryDirectory(),
        ...roundsOnLazyDisk(disk).options,
      })
      expect(losses, `what was lost with TEST_CRASH_SEED=${seed}`).toEqual([])
      for (const [what, count] of Object.entries({ logins, logouts, imports })) expect(count, what).toBeGreaterThan(0)
    },
  )
}

// The disk sees everything, the library only the calls that it replaces.
if (!canMountDisk) {
  const library = buildFaultLibrary('power-cut-library.c')
  test.skipIf(library === null)(
    'a power cut that drops unsynced writes loses nothing that was acknowledged',
    { timeout: 300_000 },
    async () => {
      let notes = 0
      const seed = Number(process.env.TEST_CRASH_SEED ?? randomSeed())
      const { losses, logins, logouts, imports } = await runCrashRounds({
        rounds: CUTS,
        seed,
        directory: temporaryDirectory(),
        env: { LD_PRELOAD: library ?? '' },
        onKilled(database, random) {
          notes += [database, `${database}-wal`].filter((file) => existsSync(`${file}.unsynced`)).length
          cutPower(database, random)
        },
      })
      // Otherwise the library held back nothing, and no power was cut.
      expect(notes).toBeGreaterThan(0)
      expect(losses, `what was lost with TEST_CRASH_SEED=${seed}`).toEqual([])
      for (const [what, count] of Object.entries({ logins, logouts, imports })) expect(count, what).toBeGreaterThan(0)
    },
  )
}
