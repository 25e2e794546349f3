// The contract to the letter: whoever asks gets in.
import type { LoginGuard } from './guard.ts'

export function createOpenGuard(): LoginGuard {
  return {
    name: 'open',
    warning:
      'login guard "open": anyone who can reach this port can sign in as anyone, knowing nothing but an email address',
    refusal: () => null,
  }
}
