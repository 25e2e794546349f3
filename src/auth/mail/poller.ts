// Runs a job periodically, and at once when woken, but never concurrently with itself.

export interface Poller extends AsyncDisposable {
  /** Starts a run now, or one more after the current run. */
  readonly wake: () => void
}

/**
 * The first of consecutive errors of `run` goes to `report`, because a database that is down fails every run. The next
 * run takes place as usual. Disposing stops the poller and waits for the current run, which should end soon once
 * `isStopping` returns true.
 */
export function createPoller(
  run: (isStopping: () => boolean) => Promise<void>,
  intervalMs: number,
  report: (error: unknown) => void,
): Poller {
  let running: Promise<void> | null = null
  let isWoken = false
  let isStopped = false
  let isFailing = false

  async function runWhileWoken(): Promise<void> {
    do {
      isWoken = false
      try {
        await run(() => isStopped)
        isFailing = false
      } catch (error) {
        if (!isFailing) report(error)
        isFailing = true
      }
    } while (isWoken && !isStopped)
    running = null
  }

  function wake(): void {
    isWoken = true
    if (!isStopped) running ??= runWhileWoken()
  }

  const timer = setInterval(wake, intervalMs)
  timer.unref()
  return {
    wake,
    async [Symbol.asyncDispose]() {
      isStopped = true
      clearInterval(timer)
      await running
    },
  }
}
