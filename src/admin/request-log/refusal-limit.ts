// Limits the log lines that clients can cause: repeated refusals do not fill the disk, and the number of omitted lines
// is logged.

/** Maximum lines of one status in one window; planned refusals count separately. */
const MAX_LINES = 60
const WINDOW_MS = 60_000

interface Window {
  written: number
  leftOut: number
}

export interface RefusalLimit extends Disposable {
  /** Whether one more line of this status may be written now. Planned refusals are counted separately. */
  readonly admits: (status: number, isPlanned: boolean) => boolean
}

export interface LeftOut {
  readonly status: number
  readonly isPlanned: boolean
  readonly count: number
}

/** Calls `onLeftOut` at the end of a window in which lines were omitted. Disposing ends all windows. */
export function createRefusalLimit(onLeftOut: (leftOut: LeftOut) => void): RefusalLimit {
  const unplanned = new Map<number, Window>()
  const planned = new Map<number, Window>()
  let timer: NodeJS.Timeout | undefined

  function endWindows(): void {
    clearTimeout(timer)
    timer = undefined
    for (const windows of [unplanned, planned]) {
      for (const [status, { leftOut: count }] of windows) {
        if (count > 0) onLeftOut({ status, isPlanned: windows === planned, count })
      }
      windows.clear()
    }
  }

  return {
    admits(status, isPlanned) {
      timer ??= setTimeout(endWindows, WINDOW_MS).unref()
      const windows = isPlanned ? planned : unplanned
      const window = windows.get(status) ?? { written: 0, leftOut: 0 }
      windows.set(status, window)
      if (window.written < MAX_LINES) {
        window.written += 1
        return true
      }
      window.leftOut += 1
      return false
    },
    [Symbol.dispose]: endWindows,
  }
}
