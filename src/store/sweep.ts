// Removes what is old while nobody does anything that would, a little at a time, so that no request waits for it.
import { setTimeout as delay } from 'node:timers/promises'
import type { Awaitable } from './awaitable.ts'

const SWEEP_EVERY_MS = 60_000
/** Between two steps: as long as requests need to get in between. */
const STEP_PAUSE_MS = 20

/**
 * Sweeps at once and then every minute, until it is disposed. `dropSome` answers whether nothing is left. What fails is
 * reported, and tried again the next time.
 */
export function startSweep(dropSome: () => Awaitable<boolean>, report: (error: unknown) => void): Disposable {
  const stopped = new AbortController()
  const { signal } = stopped

  async function sweep(): Promise<void> {
    while (!signal.aborted && !(await dropSome())) {
      await delay(STEP_PAUSE_MS, undefined, { signal, ref: false })
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      await sweep().catch((error: unknown) => {
        if (!signal.aborted) report(error)
      })
      await delay(SWEEP_EVERY_MS, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  void run()
  return { [Symbol.dispose]: () => stopped.abort() }
}
