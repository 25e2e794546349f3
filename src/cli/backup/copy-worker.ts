// The thread of a backup: copies an SQLite database and verifies the copy, which SQLite does without a pause or in large steps. It answers why that failed.
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { reasonOf } from '../../errors.ts'
import { copyNewest, verifyDatabase } from '../../store/sqlite/backup.ts'

export interface CopyRequest {
  readonly from: string
  readonly to: string
}

const { from, to } = workerData as CopyRequest
try {
  if (!isStopped()) await copyNewest(from, to)
  if (!isStopped()) verifyDatabase(to)
} catch (error) {
  // As text: on its way to another thread an error is no longer of its class.
  parentPort?.postMessage(reasonOf(error))
}

/** Any message tells it to stop. */
function isStopped(): boolean {
  return parentPort !== null && receiveMessageOnPort(parentPort) !== undefined
}
