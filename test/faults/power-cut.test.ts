// Tests that power cuts lose nothing that was acknowledged.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runHere } from '../support/command-line.ts'
import { runCrashRounds } from '../support/crash-rounds.ts'
import { buildFaultLibrary, canMountLazyDisk, hasFuse } from '../support/faults.ts'
import { createWorkspace } from '../support/import-workspace.ts'
import { mountLazyDisk } from '../support/lazy-disk.ts'
import { POSTGRES_URL, temporaryDatabase } from '../support/postgres.ts'
import { cutPower } from '../support/power-cut.ts'
import { roundsOnLazyDisk } from '../support/power-cut-rounds.ts'
import { createSeededRandom, randomSeed } from '../support/seeded-random.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { ANA, documentLine, SMALL_WORLD } from '../support/workspaces.ts'

/** npm run test:faults makes 200 cuts. */
const CUTS = 2
/** A cut with this seed keeps nothing that was not synced. */
const LOSES_ALL = 0

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

  test.skipIf(!canMountDisk)(
    'a power cut loses nothing of a backup, a dump or a restore that has ended',
    { timeout: 300_000 },
    async () => {
      await using disk = await mountLazyDisk()
      const pathOf = (name: string) => join(disk.path, name)
      const source = createWorkspace()
      await source.load(SMALL_WORLD)
      const stored = await source.dump()

      /** Runs a command to its end, and cuts the power. */
      async function runThenCut(workspace: typeof source, ...args: readonly string[]): Promise<void> {
        expect(await workspace.run(...args)).toMatchObject({ exitCode: 0, stderr: '' })
        await disk.cutPower(createSeededRandom(LOSES_ALL))
      }

      await runThenCut(source, 'dump', '--output', pathOf('dump'))
      expect(readFileSync(pathOf('dump'), 'utf8')).toBe(stored)
      const sources = [source]
      if (POSTGRES_URL !== null) sources.push(createWorkspace(runHere, await temporaryDatabase()))
      await sources[1]?.load(SMALL_WORLD)
      for (const [index, workspace] of sources.entries()) {
        const backup = pathOf(`${index}.backup`)
        await runThenCut(workspace, 'backup', backup)
        expect(existsSync(`${backup}.sha256`)).toBe(true)
        const copy = createWorkspace()
        expect(await copy.run('restore', backup)).toMatchObject({ exitCode: 0 })
        expect(await copy.dump()).toBe(stored)
      }
      const restored = createWorkspace(runHere, `file:${pathOf('workspace.db')}`)
      const lines = source.write('lines', (await source.run('backup', '-')).stdout)
      await runThenCut(restored, 'restore', lines)
      expect(await restored.dump()).toBe(stored)
      await restored.load(documentLine('template', ANA, '{"id":"later"}'))
      await runThenCut(restored, 'restore', pathOf('0.backup'))
      expect(await restored.dump()).toBe(stored)
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
