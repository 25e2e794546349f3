// A thread that reports ten times a second how much memory and how many connections a process has. It has its own event
// loop, because listing hundreds of connections takes milliseconds, which a measurement in the same loop would count as
// the gateway's.
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
 * Counts the open files of the process. They are its connections and a few files that stay open, so what grows are
 * connections. A client that does not read does not learn that its connection is gone. Checking each one would take
 * milliseconds, ten times a second, on a processor on which the clients are timed.
 */
function countOpen(): number {
  return readdirSync(`/proc/${pid}/fd`).length
}

for await (const _ of every(LOOK_EVERY_MS)) {
  const sighting: Sighting = { residentBytes: residentBytes(pid), openFiles: countOpen() }
  parentPort?.postMessage(sighting)
}
