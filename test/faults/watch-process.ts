// A thread that tells, ten times a second, how much memory a process has and how many connections: in a loop of its own, since looking
// through hundreds of connections takes milliseconds, which a measurement in the same loop would count as the gateway's.
import { readdirSync, readlinkSync } from 'node:fs'
import { setInterval as every } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { residentBytes } from '../support/measurements.ts'

export interface Sighting {
  readonly residentBytes: number
  readonly sockets: number
}

const LOOK_EVERY_MS = 100

const { pid } = workerData as { readonly pid: number }

/** A client that does not read is not told that its connection is gone, so the gateway's side is counted. */
function countSockets(): number {
  return readdirSync(`/proc/${pid}/fd`).filter((descriptor) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${descriptor}`).startsWith('socket:')
    } catch {
      return false
    }
  }).length
}

for await (const _ of every(LOOK_EVERY_MS)) {
  const sighting: Sighting = { residentBytes: residentBytes(pid), sockets: countSockets() }
  parentPort?.postMessage(sighting)
}
