// No new sign-ins: sessions that are open go on until they end.
import { type LoginGuard, refuse } from './guard.ts'

export function createNoneGuard(): LoginGuard {
  return {
    name: 'none',
    decide: () => refuse('this gateway opens no new sessions', 'start it with another login-guard'),
    chargesLimits: () => false,
  }
}
