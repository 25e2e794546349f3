// The guard that refuses all sign-ins. Open sessions stay valid until they end.
import { type LoginGuard, refuse } from './guard.ts'

export function createNoneGuard(): LoginGuard {
  return {
    name: 'none',
    decide: () => refuse('this gateway opens no new sessions', 'start it with another login-guard'),
  }
}
