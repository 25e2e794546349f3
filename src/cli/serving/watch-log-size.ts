// Tells when the write-ahead log of an SQLite database grows beyond measure: nobody makes checkpoints then.
import { stat } from 'node:fs/promises'

/** What Litestream leaves there between two of its checkpoints is a small part of this. */
export const WARN_BYTES = 268_435_456
const LOOK_EVERY_MS = 10_000

export type WarnOfLog = (bytes: number) => void

/** Looks once: warns at `WARN_BYTES`, and again whenever it has doubled. */
export function createLogSizeCheck(databasePath: string, warn: WarnOfLog, warnBytes = WARN_BYTES): () => Promise<void> {
  let warnAt = warnBytes
  return async () => {
    const found = await stat(`${databasePath}-wal`).catch(() => null)
    const size = found?.size ?? 0
    if (size < warnBytes) warnAt = warnBytes
    if (size < warnAt) return
    warn(size)
    while (warnAt <= size) warnAt *= 2
  }
}

/** Looks now and then until it is disposed of. */
export function watchLogSize(databasePath: string, warn: WarnOfLog): Disposable {
  const check = createLogSizeCheck(databasePath, warn)
  const timer = setInterval(() => void check(), LOOK_EVERY_MS).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
