// Turns each kill of the crash rounds into a power cut: a disk loses what was not synced, or a library takes it back.
import type { CrashRoundsOptions } from './crash-rounds.ts'
import type { LazyDisk, PowerCut } from './lazy-disk.ts'
import { cutPower } from './power-cut.ts'

export interface PowerCutRounds {
  readonly options: Pick<CrashRoundsOptions, 'databaseDirectory' | 'env' | 'onKill' | 'onKilled'>
  /** How many writes were lost so far, except those to the index of the write-ahead log, which is never synced. */
  readonly writesLost: () => number
}

export function roundsOnLazyDisk(disk: LazyDisk): PowerCutRounds {
  let writesLost = 0
  let cutting: Promise<PowerCut> | null = null
  return {
    options: {
      databaseDirectory: disk.path,
      onKill(random) {
        cutting = disk.cutPower(random)
      },
      async onKilled() {
        for (const [name, lost] of (await cutting)?.writesLost ?? []) if (!name.endsWith('-shm')) writesLost += lost
      },
    },
    writesLost: () => writesLost,
  }
}

/** `library` is the path of the compiled `power-cut-library.c`. */
export function roundsWithLibrary(library: string): PowerCutRounds {
  let writesLost = 0
  return {
    options: {
      env: { LD_PRELOAD: library },
      onKilled(database, random) {
        writesLost += cutPower(database, random)
      },
    },
    writesLost: () => writesLost,
  }
}
