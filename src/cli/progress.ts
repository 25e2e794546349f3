// Draws the progress line of a long command on a terminal, and formats sizes and durations.
import type { CommandIo } from './io.ts'

const REDRAW_MS = 100
const CLEAR_LINE = '\r\u001b[2K'
/** DECAWM of VT100 terminals: text beyond the last column is dropped, because only one row would be cleared. */
const WRAP_OFF = '\u001b[?7l'
const WRAP_ON = '\u001b[?7h'

export interface LiveLine {
  /** Replaces the drawn line with the result of `line`, at most once every `REDRAW_MS`. */
  readonly update: (line: () => string) => void
  /** Replaces the drawn line at once. */
  readonly show: (line: string) => void
  readonly clear: () => void
}

/** Draws on a terminal only; otherwise does nothing. */
export function createLiveLine({ stderr, isTerminal }: Pick<CommandIo, 'stderr' | 'isTerminal'>): LiveLine {
  let drawnAt = Number.NEGATIVE_INFINITY

  function show(line: string): void {
    if (isTerminal) stderr.write(line === '' ? CLEAR_LINE : CLEAR_LINE + WRAP_OFF + line + WRAP_ON)
  }

  return {
    update(line) {
      const now = performance.now()
      if (!isTerminal || now - drawnAt < REDRAW_MS) return
      drawnAt = now
      show(line())
    },
    show,
    clear: () => show(''),
  }
}

export interface Progress {
  /** Without `records`, the speed is in bytes. */
  readonly update: (bytes: number, records?: number) => void
  /** To be called before anything else is written there, and at the end. The next update draws the line again. */
  readonly clear: () => void
}

/** A progress line with percentage, speed and remaining time. */
export function createProgress(io: CommandIo, label: string, totalBytes: number): Progress {
  const start = performance.now()
  const line = createLiveLine(io)

  function inWords(bytes: number, records?: number): string {
    const seconds = Math.max((performance.now() - start) / 1_000, 0.001)
    const left = bytes > 0 ? (seconds * (totalBytes - bytes)) / bytes : 0
    const percent = totalBytes > 0 ? Math.floor((100 * bytes) / totalBytes) : 100
    const speed =
      records === undefined
        ? `${toSize(bytes / seconds)}/s`
        : `${Math.round(records / seconds).toLocaleString('en')} records/s`
    return `${label} ${percent} %  ${toSize(bytes)} of ${toSize(totalBytes)}  ${speed}  ${toDuration(left)} left`
  }

  return { update: (bytes, records) => line.update(() => inWords(bytes, records)), clear: line.clear }
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const

/** Formats a size in powers of 1,000. */
export function toSize(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3))
  return `${(bytes / 1_000 ** power).toFixed(power === 0 ? 0 : 1)} ${UNITS[power]}`
}

export function toDuration(seconds: number): string {
  const whole = Math.round(seconds)
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`
}

/** How many bytes an import read or a backup wrote, and in what time since `start`, as `performance.now()` gave it. */
export function tookInWords(bytes: number, start: number): string {
  const seconds = (performance.now() - start) / 1_000
  return `${toSize(bytes)} in ${seconds < 10 ? `${seconds.toFixed(1)} s` : toDuration(seconds)}`
}
