// Several guards as one: asked in order, the first that admits or refuses decides, and nobody's consent is a refusal.
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
    // Of the first only: one that is not asked charges nobody.
    chargesLimits: (caller) => first?.chargesLimits(caller) ?? false,
  }
}
