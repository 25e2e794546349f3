// Reads the processes of a gateway with workers from /proc.
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { ServingProcess } from '../support/command-line.ts'

export function workersOf({ process: { pid } }: Pick<ServingProcess, 'process'>): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
}

export function commandOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
}

/**
 * Returns the first state that proc_pid_status(5) names: `T` for a stopped process, `Z` for one that has ended and was
 * not awaited.
 */
export function stateOf(pid: number): string {
  return /^State:\t(\w)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? ''
}

/** As long as `expect.poll` waits: on a busy machine, two workers have taken more than 20 s to replace two others. */
const MAX_WAIT_MS = 120_000

export async function until(condition: () => boolean): Promise<void> {
  for (let start = performance.now(); !condition(); ) {
    if (performance.now() - start > MAX_WAIT_MS) throw new Error('it did not happen in time')
    await delay(20)
  }
}
