// The contract to the letter: every login is accepted.
import { admit, type LoginGuard } from './guard.ts'

export function createOpenGuard(): LoginGuard {
  return { name: 'open', decide: ({ email }) => admit(email), chargesLimits: () => false }
}
