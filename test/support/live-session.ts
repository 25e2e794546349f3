// The result of a session look-up, for tests of what is kept and shared for a session.
import type { LiveSession } from '../../src/store/contract.ts'

export function liveSession(userId: number | null, stateVersion = 'a'): LiveSession {
  return { id: 's', email: 'x@example.com', userId, revision: 1, stateVersion, client: '' }
}
