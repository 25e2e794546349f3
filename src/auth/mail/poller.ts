// Work that is looked for now and then, and at once when somebody says that there is some; never twice at a time.

export interface Poller extends AsyncDisposable {
  /** Runs now, or once more after the run that is under way. */
  readonly wake: () => void
}

/** `isStopping`: the run is waited for, so it should end soon. What `run` throws goes to `report`; the next run is then as usual. Stops when disposed: the run under way is waited for. */
export function createPoller(
  run: (isStopping: () => boolean) => Promise<void>,
  intervalMs: number,
  report: (error: unknown) => void,
): Poller {
  let running: Promise<void> | null = null
  let isWoken = false
  let isStopped = false

  async function runWhileWoken(): Promise<void> {
    do {
      isWoken = false
      try {
        await run(() => isStopped)
      } catch (error) {
        report(error)
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
