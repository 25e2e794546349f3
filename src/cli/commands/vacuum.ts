// vacuum: returns the space of removed rows to the file system.
import { setTimeout as delay } from 'node:timers/promises'
import { dropAllStale } from '../../import-export/stale-stages.ts'
import { flushAndTell } from '../flush-removals.ts'
import type { CommandIo, ExitCode } from '../io.ts'
import { openStoreToWrite } from '../open-store-for-cli.ts'
import type { VacuumConfig } from '../options/workspace-options.ts'
import { toSize } from '../progress.ts'

/** Pause between steps, long enough for another writer that polls the write lock every millisecond to get it. */
const PAUSE_MS = 3

export async function runVacuum(config: VacuumConfig, io: CommandIo): Promise<ExitCode> {
  await using store = await openStoreToWrite(config)
  const before = (await store.space()).byteLength
  await dropAllStale(store, io.clock())
  if (config.full) await store.rewrite()
  else while ((await store.reclaimSpace()).reclaimableBytes > 0) await delay(PAUSE_MS)
  await flushAndTell(store, config, io)
  const { byteLength, unusedBytes } = await store.space()
  io.stdout.write(`${toSize(before)} before, ${toSize(byteLength)} now\n`)
  if (unusedBytes > 0) {
    io.stdout.write(`${toSize(unusedBytes)} of it is unused, and only vacuum --full can return it to the file system\n`)
  }
  return 0
}
