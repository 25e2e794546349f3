// The worker thread of a backup: copies an SQLite database and verifies the copy. SQLite blocks its thread for both, so
// they run outside the main thread. On failure the thread posts the reason as text.
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { reasonOf } from '../../errors.ts'
import { copyNewest, verifyDatabase } from '../../store/sqlite/backup.ts'
import type { Checkpoints } from '../../store/sqlite/connection.ts'

export interface CopyRequest {
  readonly from: string
  readonly to: string
  readonly checkpoints: Checkpoints
}

const { from, to, checkpoints } = workerData as CopyRequest
try {
  throwIfStopped()
  await copyNewest(from, to, { afterStep: throwIfStopped, checkpoints })
  throwIfStopped()
  verifyDatabase(to)
} catch (error) {
  // Posted as text: an error loses its class when it is cloned for another thread.
  parentPort?.postMessage(reasonOf(error))
}

/** Throws when the main thread has asked to stop. Any message means stop. */
function throwIfStopped(): void {
  if (parentPort !== null && receiveMessageOnPort(parentPort) !== undefined) throw new Error('stopped')
}
