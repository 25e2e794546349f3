// Memory of a process, where there is a /proc.
import { readFileSync } from 'node:fs'

/** In MiB: `VmRSS` is what is resident, `VmHWM` the most that ever was. NaN when it cannot be known, or the process has ended. */
export function memoryMiB(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1_024
  } catch {
    return Number.NaN
  }
}
