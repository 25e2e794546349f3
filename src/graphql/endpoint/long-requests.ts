// Requests whose JSON takes long to read: whose they may be, how many wait, and what time they have.
import { GatewayError } from '../../errors.ts'
import { createConcurrencyLimit } from '../../http/limits/concurrency-limit.ts'
import type { InFlightBytes } from '../../http/limits/in-flight-bytes.ts'
import { createPacedWork } from '../../http/limits/paced-work.ts'
import type { LiveSession } from '../../store/contract.ts'
import type { Identified } from './viewer.ts'

/** In UTF-16 code units: a millisecond or two of the worst JSON. Documents of frontends are mostly shorter. */
const MAX_SHORT_SOURCE = 16_384
/** Of one user, besides the one that is read: as many as a client's pool of connections has. */
const MAX_WAITING = 64
/** Sessions of emails without a workspace wait as if they were of one user: anybody may have any number of them. */
const WITHOUT_WORKSPACE = -1

export function isLong(source: string): boolean {
  return source.length > MAX_SHORT_SOURCE
}

/**
 * Runs `read` on a long request when it is its turn: each user has one at a time, all users together a part of the time. Throws what `read`
 * does; to strangers `INVALID_TOKEN` or `UNAUTHENTICATED`, since what they may ask for is short; `UNAVAILABLE` when too much waits.
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
