// Lets a worker tell its supervisor why it ends, so that the supervisor logs the reason once.

/**
 * Environment variable of workers that start after the first one listens. It has no option prefix, because it is no
 * option.
 */
const LATER_WORKER = 'GATEWAY_LATER_WORKER'

export const LATER_WORKER_ENVIRONMENT: Readonly<Record<string, string>> = { [LATER_WORKER]: '1' }

interface AnnouncedEnd {
  readonly endsFor: string
}

/** In a worker: whether another worker has already checked the database, and created it if there was none. */
export function isLaterWorker(environment: Readonly<Record<string, string | undefined>>): boolean {
  return process.send !== undefined && environment[LATER_WORKER] !== undefined
}

/** In a worker: sends the reason, and resolves when it was sent. */
export async function announceEnd(reason: string): Promise<void> {
  const end: AnnouncedEnd = { endsFor: reason }
  await new Promise((resolve) => process.send?.(end, resolve))
}

export function isAnnouncedEnd(message: unknown): message is AnnouncedEnd {
  return typeof message === 'object' && message !== null && 'endsFor' in message
}
