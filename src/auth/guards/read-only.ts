// The guard of a read-only gateway, which cannot store sessions and therefore refuses every login.
import { type LoginGuard, refuse } from './guard.ts'

export function createReadOnlyGuard(): LoginGuard {
  return {
    // The web pages treat this guard like `none`: there is no sign-in.
    name: 'none',
    decide: () => refuse('This gateway is read-only', 'sign in at a gateway that accepts writes', 'READ_ONLY'),
  }
}
