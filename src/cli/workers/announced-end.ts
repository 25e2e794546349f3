// Lets a worker know whether it is one of this program, and tell its supervisor why it ends, so that the supervisor logs
// the reason once.
import cluster from 'node:cluster'
import { UsageError } from '../../errors.ts'

/** Environment variables of workers. They have no option prefix, because they are no options. */
const WORKER = 'GATEWAY_WORKER'
/** Of workers that start after the first one listens. A supervisor up to version 0.5 sets no other. */
const LATER_WORKER = 'GATEWAY_LATER_WORKER'

export function workerEnvironment(isLater: boolean): Readonly<Record<string, string>> {
  return { [WORKER]: '1', ...(isLater ? { [LATER_WORKER]: '1' } : {}) }
}

interface AnnouncedEnd {
  readonly endsFor: string
}

/** In a worker: whether another worker has already checked the database, and created it if there was none. */
export function isLaterWorker(environment: Readonly<Record<string, string | undefined>>): boolean {
  return process.send !== undefined && environment[LATER_WORKER] !== undefined
}

/**
 * Throws `UsageError` in a worker of another program's cluster: it would report to a supervisor that does not listen,
 * and have no admin port.
 */
export function requireOwnSupervisor(environment: Readonly<Record<string, string | undefined>>): void {
  if (cluster.isPrimary || (environment[WORKER] ?? environment[LATER_WORKER]) !== undefined) return
  throw new UsageError(
    'another program started this process as a worker of its cluster: let it start one gateway by itself (PM2: exec_mode fork), and set --workers for several processes',
  )
}

/** In a worker: sends the reason, and resolves when it was sent. */
export async function announceEnd(reason: string): Promise<void> {
  const end: AnnouncedEnd = { endsFor: reason }
  await new Promise((resolve) => process.send?.(end, resolve))
}

export function isAnnouncedEnd(message: unknown): message is AnnouncedEnd {
  return typeof message === 'object' && message !== null && 'endsFor' in message
}
