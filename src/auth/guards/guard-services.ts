// The services that guards use.
import type { Store } from '../../store/contract.ts'
import type { Audit } from '../audit/audit-event.ts'
import type { RateLimits } from '../limits/rate-limits.ts'
import type { Keyset } from '../tokens/keyset.ts'

/** Available once the store is open. */
export interface GuardServices {
  readonly store: Store
  readonly limits: RateLimits
  readonly keyset: Pick<Keyset, 'signingKey' | 'keyOf'>
  readonly audit: Audit
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** Logs the failure of background work. */
  readonly report: (error: unknown, what: string) => void
  /** Background work of guards, disposed of before the store is closed. */
  readonly running: AsyncDisposableStack
}
