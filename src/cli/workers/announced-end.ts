// Why a worker ends, told to its supervisor: the log has it with the rest, and once.

/** In the environment of workers that are started after one has listened. Not named like an option: it is none. */
const LATER_WORKER = 'GATEWAY_LATER_WORKER'

export const LATER_WORKER_ENVIRONMENT: Readonly<Record<string, string>> = { [LATER_WORKER]: '1' }

interface AnnouncedEnd {
  readonly endsFor: string
}

/** In a worker: whether another one has looked at the database, and made it where there was none. */
export function isLaterWorker(environment: Readonly<Record<string, string | undefined>>): boolean {
  return process.send !== undefined && environment[LATER_WORKER] !== undefined
}

/** In a worker: resolves once it was said. */
export async function announceEnd(reason: string): Promise<void> {
  const end: AnnouncedEnd = { endsFor: reason }
  await new Promise((resolve) => process.send?.(end, resolve))
}

export function isAnnouncedEnd(message: unknown): message is AnnouncedEnd {
  return typeof message === 'object' && message !== null && 'endsFor' in message
}
