// A bounded queue of background work: limits what runs and what waits, and drops work beyond that.

export interface ShadowQueue extends AsyncDisposable {
  /** Returns false, and never calls `run`, when there is no room. Ignores what `run` throws. */
  readonly add: (run: () => Promise<void>) => boolean
  /** The same after a delay. */
  readonly addLater: (run: () => Promise<void>, milliseconds: number) => boolean
}

export function createShadowQueue(concurrency: number, maxWaiting: number): ShadowQueue {
  const waiting: (() => Promise<void>)[] = []
  const timers = new Set<NodeJS.Timeout>()
  const running = new Set<Promise<void>>()
  let isClosed = false

  function startNext(): void {
    while (running.size < concurrency && !isClosed) {
      const run = waiting.shift()
      if (!run) return
      const done = run()
        .catch(() => {})
        .then(() => {
          running.delete(done)
          startNext()
        })
      running.add(done)
    }
  }

  function hasRoom(): boolean {
    return !isClosed && waiting.length + timers.size < maxWaiting
  }

  function add(run: () => Promise<void>): boolean {
    if (!hasRoom()) return false
    waiting.push(run)
    // The client's own response is sent first.
    setImmediate(startNext)
    return true
  }

  return {
    add,
    addLater(run, milliseconds) {
      if (!hasRoom()) return false
      const timer = setTimeout(() => {
        timers.delete(timer)
        add(run)
      }, milliseconds)
      timer.unref()
      timers.add(timer)
      return true
    },
    async [Symbol.asyncDispose]() {
      isClosed = true
      for (const timer of timers) clearTimeout(timer)
      await Promise.all(running)
    },
  }
}
