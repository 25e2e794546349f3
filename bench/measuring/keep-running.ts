// Repeats a task during a measurement, such as downloads that run beside it.

/**
 * Runs the task `atOnce` times at once, again and again until it is disposed of. Disposing waits for the runs in flight,
 * and throws the error of a run that failed.
 */
export function keepRunning(atOnce: number, run: () => Promise<unknown>): AsyncDisposable {
  let isStopping = false
  // Settled, because an error before the disposal would end the process, and with it all other rows.
  const loops = Promise.allSettled(
    Array.from({ length: atOnce }, async () => {
      while (!isStopping) await run()
    }),
  )
  return {
    async [Symbol.asyncDispose]() {
      isStopping = true
      const failed = (await loops).find(({ status }) => status === 'rejected')
      if (failed?.status === 'rejected') throw failed.reason
    },
  }
}
