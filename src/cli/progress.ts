// The progress line of a long command: how far, how fast, how much longer.
import type { CommandIo } from './io.ts'

const REDRAW_MS = 100
const CLEAR_LINE = '\r\u001b[2K'

export interface Progress {
  readonly update: (bytes: number, records: number) => void
  readonly finish: () => void
}

/** Draws on a terminal only. */
export function createProgress({ stderr, isTerminal }: CommandIo, label: string, totalBytes: number): Progress {
  const start = performance.now()
  let drawnAt = Number.NEGATIVE_INFINITY
  return {
    update(bytes, records) {
      const now = performance.now()
      if (!isTerminal || now - drawnAt < REDRAW_MS) return
      drawnAt = now
      const seconds = (now - start) / 1_000
      const left = bytes > 0 ? (seconds * (totalBytes - bytes)) / bytes : 0
      const percent = totalBytes > 0 ? Math.floor((100 * bytes) / totalBytes) : 100
      stderr.write(
        `${CLEAR_LINE}${label} ${percent} %  ${toSize(bytes)} of ${toSize(totalBytes)}  ${Math.round(records / Math.max(seconds, 0.001)).toLocaleString('en')} records/s  ${toDuration(left)} left`,
      )
    },
    finish() {
      if (isTerminal) stderr.write(CLEAR_LINE)
    },
  }
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'] as const

/** In powers of 1,000. */
export function toSize(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3))
  return `${(bytes / 1_000 ** power).toFixed(power === 0 ? 0 : 1)} ${UNITS[power]}`
}

export function toDuration(seconds: number): string {
  const whole = Math.round(seconds)
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`
}
