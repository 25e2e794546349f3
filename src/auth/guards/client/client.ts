// The guard for back ends that know their users: a registered client signs in addresses of its domains with its own
// credentials.
import type { Store } from '../../../store/contract.ts'
import type { StoredClient } from '../../../store/sign-in/client-contract.ts'
import { canonicalEmail } from '../../email.ts'
import { networkOf } from '../../limits/network.ts'
import type { RateLimits } from '../../limits/rate-limits.ts'
import { createTokenBuckets, type TokenBuckets } from '../../limits/token-buckets.ts'
import { type Admission, admit, type LoginGuard, pass, type Refusal, refuse, refuseEmail } from '../guard.ts'
import { clientOf, readBasicCredentials } from './client-secret.ts'

/** What a client may be allowed to do. */
export const CLIENT_SCOPES = ['login', 'import'] as const

/** The entry in a client's `domains` that allows addresses of every domain. */
export const ANY_DOMAIN = '*'

const MINUTE_SECONDS = 60
/** The same refusal for an unknown name and for a wrong secret. */
const UNKNOWN = refuse('the credentials are not those of a registered client', 'register it with clients add')

export interface ClientGuardParts {
  readonly store: Pick<Store, 'clientByName'>
  readonly limits: RateLimits
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

export function createClientGuard({ store, limits, clock }: ClientGuardParts): LoginGuard {
  const budgets = new Map<number, TokenBuckets>()

  /** Clients with the same limit share one table of buckets, but each has its own bucket. */
  function bucketsOf(perMinute: number): TokenBuckets {
    const known = budgets.get(perMinute)
    if (known) return known
    const created = createTokenBuckets(perMinute, MINUTE_SECONDS, clock)
    budgets.set(perMinute, created)
    return created
  }

  function limitOf({ name, perMinute }: StoredClient): Refusal | null {
    const buckets = bucketsOf(perMinute)
    const waitMs = buckets.waitMs(name)
    if (waitMs === 0) {
      buckets.take(name)
      return null
    }
    const reason = `This client may sign in at most ${perMinute} times per minute`
    return { ...refuse(reason, null, 'TOO_MANY_REQUESTS'), retryAfterSeconds: Math.ceil(waitMs / 1_000) }
  }

  function decideFor(client: StoredClient, sent: string): Admission | Refusal {
    const limited = limitOf(client)
    if (limited) return limited
    if (!client.scopes.includes('login'))
      return refuse('this client does not have the scope login', 'register it with the scope login (clients add)')
    const email = canonicalEmail(sent)
    if (email === null) return refuseEmail()
    const domain = email.slice(email.lastIndexOf('@') + 1)
    const isItsOwn = client.domains.includes(ANY_DOMAIN) || client.domains.includes(domain)
    return isItsOwn
      ? admit(email, client.name)
      : refuse(
          'this client may not sign in addresses of this domain',
          'register it with the domain in email-domains (clients add)',
        )
  }

  return {
    name: 'client',
    async decide({ caller, email }) {
      const credentials = readBasicCredentials(caller.header('authorization'))
      if (credentials === null) {
        const reason = 'the request has no credentials of a registered client (Authorization: Basic)'
        return pass(reason, 'register it with clients add')
      }
      const client = await clientOf(store, credentials)
      if (client) return decideFor(client, email)
      // Guesses are charged to the caller's network. Only a caller that knows the secret is exempt.
      limits.require('login', { network: networkOf(caller.client.address) })
      return UNKNOWN
    },
    chargesLimits: (caller) => readBasicCredentials(caller.header('authorization')) !== null,
  }
}
