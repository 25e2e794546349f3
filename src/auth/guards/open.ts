// The guard that follows the contract to the letter: it admits every login.
import { admit, type LoginGuard } from './guard.ts'

export function createOpenGuard(): LoginGuard {
  return { name: 'open', decide: ({ email }) => admit(email) }
}
