// Warns when the write-ahead log of an SQLite database grows too large, which means that nobody makes checkpoints.
import { stat } from 'node:fs/promises'

/** Litestream leaves only a small part of this between two of its checkpoints. */
export const WARN_BYTES = 268_435_456
const LOOK_EVERY_MS = 10_000

export type WarnOfLog = (bytes: number) => void

/** Returns a check that warns at `warnBytes`, and again whenever the size has doubled. */
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

/** Checks every `LOOK_EVERY_MS` until it is disposed of. */
export function watchLogSize(databasePath: string, warn: WarnOfLog): Disposable {
  const check = createLogSizeCheck(databasePath, warn)
  const timer = setInterval(() => void check(), LOOK_EVERY_MS).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}
