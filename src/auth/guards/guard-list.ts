// Combines several guards: calls them in order, and the first that admits or refuses decides. If all pass, the login is
// refused.
import { type LoginGuard, type Refusal, refuse } from './guard.ts'

export function createGuardList(guards: readonly LoginGuard[]): LoginGuard {
  const [first] = guards
  if (first && guards.length === 1) return first
  return {
    name: guards.map(({ name }) => name).join(','),
    async decide(attempt) {
      let last: Refusal = refuse('no login guard is configured', 'name one with the option login-guard')
      for (const guard of guards) {
        const decision = await guard.decide(attempt)
        if (decision.outcome !== 'passed') return decision
        last = decision
      }
      return last
    },
    // Only the first guard counts, because a guard that is never called would charge nobody.
    chargesLimits: (caller) => first?.chargesLimits?.(caller) ?? false,
  }
}
