// The thread of a backup: copies an SQLite database and verifies the copy, which SQLite does without a pause or in large steps.
import { parentPort, workerData } from 'node:worker_threads'
import { copyDatabase, verifyDatabase } from '../../store/sqlite/backup.ts'

export interface CopyRequest {
  readonly from: string
  readonly to: string
}

const { from, to } = workerData as CopyRequest
await copyDatabase(from, to)
parentPort?.postMessage('copied')
verifyDatabase(to)
