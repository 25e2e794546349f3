// What crash rounds need for each kill to be a power cut: a disk that loses what was not synced, or a library that takes it back.
import type { CrashRoundsOptions } from './crash-rounds.ts'
import type { LazyDisk, PowerCut } from './lazy-disk.ts'
import { cutPower } from './power-cut.ts'

export interface PowerCutRounds {
  readonly options: Pick<CrashRoundsOptions, 'databaseDirectory' | 'env' | 'onKill' | 'onKilled'>
  /** So far, but for the index of the log, which is never synced. */
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

/** `library` is what `power-cut-library.c` was compiled to. */
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
