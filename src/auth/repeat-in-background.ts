// Repeats a background job of the process until its stack is disposed of.

/**
 * Runs `job` after a pause of `pauseMs`, and again so long after each run, also after one that failed: its errors are
 * ignored. A run that is in progress at the end should stop soon once `isStopping` returns true.
 */
export function repeatInBackground(
  job: (isStopping: () => boolean) => Promise<unknown>,
  pauseMs: number,
  running: AsyncDisposableStack,
): void {
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  function next(): void {
    if (isClosed) return
    timer = setTimeout(() => job(() => isClosed).then(next, next), pauseMs).unref()
  }

  next()
  running.defer(() => {
    isClosed = true
    clearTimeout(timer)
  })
}
