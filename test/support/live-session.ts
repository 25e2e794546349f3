// What a look-up of a session found, for tests of what is kept and shared under it.
import type { LiveSession } from '../../src/store/contract.ts'

export function liveSession(userId: number | null, stateVersion = 'a'): LiveSession {
  return { id: 's', email: 'x@example.com', userId, revision: 1, stateVersion, client: '' }
}
