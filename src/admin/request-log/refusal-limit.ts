// Bounds the lines that nobody asked for: repeated refusals do not fill the disk, and the number of lines left out is logged.

/** Of one status, in one window. */
const MAX_LINES = 60
const WINDOW_MS = 60_000

interface Window {
  written: number
  leftOut: number
}

export interface RefusalLimit extends Disposable {
  /** Whether one more line of this status may be written now. */
  readonly admits: (status: number) => boolean
}

/** `onLeftOut` is told at the end of a window in which lines were left out. Disposing ends all windows. */
export function createRefusalLimit(onLeftOut: (status: number, count: number) => void): RefusalLimit {
  const windows = new Map<number, Window>()
  let timer: NodeJS.Timeout | undefined

  function endWindows(): void {
    clearTimeout(timer)
    timer = undefined
    for (const [status, { leftOut }] of windows) if (leftOut > 0) onLeftOut(status, leftOut)
    windows.clear()
  }

  return {
    admits(status) {
      timer ??= setTimeout(endWindows, WINDOW_MS).unref()
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
