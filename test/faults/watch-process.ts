// A thread that tells, ten times a second, how much memory a process has and how many connections: in a loop of its own, since looking
// through hundreds of connections takes milliseconds, which a measurement in the same loop would count as the gateway's.
import { readdirSync } from 'node:fs'
import { setInterval as every } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { residentBytes } from '../support/measurements.ts'

export interface Sighting {
  readonly residentBytes: number
  readonly openFiles: number
}

const LOOK_EVERY_MS = 100

const { pid } = workerData as { readonly pid: number }

/**
 * The connections of the process, and a few files that stay open: what grows is connections. A client that does not read is not told that
 * its own is gone. Looking at each of them would take milliseconds, ten times a second, on a processor that the clients are timed on.
 */
function countOpen(): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

for await (const _ of every(LOOK_EVERY_MS)) {
  const sighting: Sighting = { residentBytes: residentBytes(pid), openFiles: countOpen() }
  parentPort?.postMessage(sighting)
}
