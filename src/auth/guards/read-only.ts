// The guard of a read-only gateway: sessions cannot be stored, so every login is refused.
import { type LoginGuard, refuse } from './guard.ts'

export function createReadOnlyGuard(): LoginGuard {
  return {
    // For pages and their readers the same as no sign-in at all.
    name: 'none',
    decide: () => refuse('This gateway answers reads only', 'sign in at one that writes', 'READ_ONLY'),
    chargesLimits: () => false,
  }
}
