// Limits requests whose JSON takes long to parse: who may send them, how many may wait, and how much time they get.
import { GatewayError } from '../../errors.ts'
import { createConcurrencyLimit } from '../../http/limits/concurrency-limit.ts'
import type { InFlightBytes } from '../../http/limits/in-flight-bytes.ts'
import { createPacedWork } from '../../http/limits/paced-work.ts'
import type { LiveSession } from '../../store/contract.ts'
import type { Identified } from './viewer.ts'

/** UTF-16 units: one or two milliseconds of parsing for the worst JSON. Documents of front ends are mostly shorter. */
const MAX_SHORT_SOURCE = 16_384
/** Requests of one user that may wait besides the one being parsed: as many as a client's connection pool has. */
const MAX_WAITING = 64
/** All sessions without a workspace share one queue, because anybody can have any number of such emails. */
const WITHOUT_WORKSPACE = -1

export function isLong(source: string): boolean {
  return source.length > MAX_SHORT_SOURCE
}

/**
 * Runs `read` on a long request when its turn comes. Each user parses one at a time, and all users together may use
 * only a part of the time. Throws what `read` throws, `UNAVAILABLE` if too much is waiting, and `INVALID_TOKEN` or
 * `UNAUTHENTICATED` without a valid session, since nothing that is allowed without one needs a long request.
 */
export type ReadLong = <T>(source: string, who: Identified, read: () => T) => Promise<T>

export function createReadLong(inFlight: InFlightBytes): ReadLong {
  const limitReading = createConcurrencyLimit({ maxRunning: 1, freeWaiting: MAX_WAITING, maxWaitMs: 0 })
  const paceReading = createPacedWork()

  return async (source, who, read) => {
    const { userId } = requireViewer(who)
    using held = inFlight.open(0)
    held.require(source.length)
    return await limitReading(userId ?? WITHOUT_WORKSPACE, () => paceReading(read))
  }
}

function requireViewer({ viewer, refusal }: Identified): LiveSession {
  if (viewer) return viewer
  const message = `Sign in to send a request of more than ${MAX_SHORT_SOURCE} characters.`
  throw refusal ?? new GatewayError('UNAUTHENTICATED', { message })
}
