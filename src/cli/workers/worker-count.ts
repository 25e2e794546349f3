// Computes the number of worker processes from `--workers`.
import { availableParallelism } from 'node:os'
import type { ServeConfig } from '../options/serve-options.ts'

export function workerCount({ workers }: Pick<ServeConfig, 'workers'>): number {
  return workers === 'auto' ? availableParallelism() : workers
}
