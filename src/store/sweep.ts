// Runs periodic cleanup in small steps, so that old rows go even without traffic and no request waits for the cleanup.
import { setTimeout as delay } from 'node:timers/promises'
import type { Awaitable } from './awaitable.ts'

const SWEEP_EVERY_MS = 60_000
/** Pause between two steps, long enough for waiting requests to run. */
const STEP_PAUSE_MS = 20

/**
 * Sweeps immediately and then every minute until disposed. `dropSome` removes a part and returns true when nothing is
 * left. An error goes to `report`; the next sweep tries again.
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
