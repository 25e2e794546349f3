// Reads the memory of a process from /proc.
import { readFileSync } from 'node:fs'

/**
 * Memory in MiB: `VmRSS` is the resident memory, `VmHWM` its peak. NaN without /proc, or when the process has ended.
 */
export function memoryMiB(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1_024
  } catch {
    return Number.NaN
  }
}
