// The guard for people: mails a code, which the client sends back in the login request of the contract.
import type { Store } from '../../../store/contract.ts'
import type { PendingSignIn } from '../../../store/sign-in/code-contract.ts'
import { isRunning } from '../../../store/sign-in/decide-code-requests.ts'
import type { Audit } from '../../audit/audit-event.ts'
import type { Caller } from '../../caller.ts'
import { canonicalEmail } from '../../email.ts'
import { networkOf } from '../../limits/network.ts'
import type { RateLimits } from '../../limits/rate-limits.ts'
import { auditedAsker } from '../../mail/audited-asker.ts'
import { readCode, readTaggedAddress } from '../../mail/code-spelling.ts'
import type { DerivedCodes } from '../../mail/derived-codes.ts'
import { programName } from '../../mail/program-name.ts'
import type { CodeRequests } from '../../mail/requests.ts'
import { type Admission, admit, type LoginGuard, type Refusal, refuse, refuseEmail } from '../guard.ts'

export interface MailGuardParts {
  readonly store: Pick<Store, 'pendingSignIn' | 'tryCode'>
  readonly codes: DerivedCodes
  readonly requests: CodeRequests
  readonly limits: RateLimits
  readonly audit: Audit
  readonly codeTtlMs: number
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** Called after a request was stored, when its response is about to be sent: there is something to decide. */
  readonly onRequest: () => void
}

const SENT = refuse(
  'If this address may sign in here, a code was mailed to it: send the same request again with the code as `code`, or ' +
    'with +code- and the code before the @ of the address',
  null,
  'LOGIN_CODE_SENT',
)
/** The same refusal whether the code is wrong, expired, used, out of tries, or was never sent. */
const WRONG = refuse(
  'The code is wrong or no longer valid: sign in without a code to get a new one',
  null,
  'LOGIN_CODE_WRONG',
)
const NO_EMAIL = refuseEmail()

export function createMailGuard(parts: MailGuardParts): LoginGuard {
  const { store, codes, requests, limits, audit, codeTtlMs, clock, onRequest } = parts

  async function findPending(email: string, network: string): Promise<PendingSignIn | null> {
    const now = clock()
    const found = await store.pendingSignIn(email, network, now)
    return found && isRunning(found.expiresAt, codeTtlMs, now) ? found : null
  }

  /** Only the store compares the code, because it counts the tries. */
  async function isRight(pending: PendingSignIn | null, typed: string): Promise<boolean> {
    const code = readCode(typed)
    if (!pending || pending.triesLeft <= 0 || code === null) return false
    const codeHash = await codes.hashOf(pending.id, pending.kid, code)
    return codeHash !== null && (await store.tryCode({ id: pending.id, codeHash }, clock())) === 'right'
  }

  async function enter(
    email: string,
    typed: string,
    network: string,
    found?: PendingSignIn,
  ): Promise<Admission | Refusal> {
    limits.require('code', { email, network })
    const pending = found ?? (await findPending(email, network))
    if (await isRight(pending, typed)) return admit(email)
    const about = auditedAsker(email, network)
    audit.record({ kind: 'code', result: 'refused', ...about, detail: 'wrong code' })
    return WRONG
  }

  async function ask(email: string, network: string, caller: Caller): Promise<Refusal> {
    await requests.add({ email, network, agent: programName(caller.header('user-agent')) })
    onRequest()
    return SENT
  }

  return {
    name: 'mail',
    async decide({ caller, email: sent, code }) {
      const network = networkOf(caller.client.address)
      const tagged = code === null ? readTaggedAddress(sent) : null
      const pending = tagged && (await findPending(tagged.email, network))
      // Without a pending sign-in, an address of this form is treated like any other.
      if (tagged && pending) return enter(tagged.email, tagged.code, network, pending)
      const email = canonicalEmail(sent)
      if (email === null) return NO_EMAIL
      return code === null ? ask(email, network, caller) : enter(email, code, network)
    },
  }
}
