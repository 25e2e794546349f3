// Small helpers with which long runs measure.
import { createWriteStream, readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'

const LINES_PER_WRITE = 200

/** The value at `part` (0 to 1) of the sorted values; 0 if there are none. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
}

/** Resident memory of a process, now or at its peak; Linux only. */
export function residentBytes(pid: number | undefined, which: 'VmRSS' | 'VmHWM' = 'VmRSS'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`^${which}:\\s*(\\d+) kB$`, 'm').exec(status)?.[1] ?? 0) * 1_024
}

/** Writes lines, numbered from 0, to a new file. */
export async function writeLines(path: string, count: number, line: (number: number) => string): Promise<void> {
  function* chunks(): Generator<string> {
    for (let from = 0; from < count; from += LINES_PER_WRITE) {
      const length = Math.min(LINES_PER_WRITE, count - from)
      yield Array.from({ length }, (_, index) => line(from + index)).join('')
    }
  }
  await pipeline(Readable.from(chunks()), createWriteStream(path))
}

/**
 * Starts `perSecond` calls a second until `isOver`, whether earlier calls have ended or not. Resolves to the
 * milliseconds that each call took, counted from the moment it was due.
 */
export async function atRate(
  perSecond: number,
  call: (number: number) => Promise<void>,
  isOver: () => boolean,
): Promise<readonly number[]> {
  const took: number[] = []
  const calls: Promise<void>[] = []
  const start = performance.now()
  while (!isOver()) {
    const due = start + (calls.length * 1_000) / perSecond
    const wait = due - performance.now()
    if (wait > 1) await delay(wait)
    calls.push(call(calls.length).then(() => void took.push(performance.now() - due)))
  }
  await Promise.all(calls)
  return took
}
