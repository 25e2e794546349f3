// Of a gateway that only reads: a session cannot be stored here, so nobody signs in, whoever they are.
import { type LoginGuard, refuse } from './guard.ts'

export function createReadOnlyGuard(): LoginGuard {
  return {
    // For pages and their readers the same as no sign-in at all.
    name: 'none',
    decide: () => refuse('This gateway answers reads only', 'sign in at one that writes', 'READ_ONLY'),
    chargesLimits: () => false,
  }
}
