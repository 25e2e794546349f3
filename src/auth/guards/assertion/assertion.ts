// The guard behind an identity proxy or provider: requires a header with a signed assertion of the email that signs in.
import { GatewayError } from '../../../errors.ts'
import { bearerToken } from '../../bearer.ts'
import { canonicalEmail } from '../../email.ts'
import { type Admission, admit, type LoginGuard, pass, type Refusal, refuse } from '../guard.ts'
import type { KeySource } from './keys/key-source.ts'
import type { AssertionSettings } from './settings.ts'
import { AssertionError, verifyAssertion } from './verify-assertion.ts'

export interface AssertionGuardParts {
  readonly settings: AssertionSettings
  readonly keys: KeySource
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** Logs that the keys cannot be loaded. */
  readonly report: (error: unknown) => void
}

export function createAssertionGuard({ settings, keys, clock, report }: AssertionGuardParts): LoginGuard {
  const { header } = settings

  async function emailIn(token: string): Promise<string> {
    try {
      return await verifyAssertion(token, settings, keys, clock())
    } catch (error) {
      // These two are decisions, not faults, so they are not reported.
      if (error instanceof AssertionError || error instanceof GatewayError) throw error
      report(error)
      throw new GatewayError('UNAVAILABLE', { retryAfterSeconds: 5, cause: error })
    }
  }

  return {
    name: 'assertion',
    async decide({ caller, email }) {
      const token = header === 'authorization' ? bearerToken(caller) : caller.header(header)
      if (!token) {
        const reason = `the request has no assertion (${header})`
        return pass(reason, 'sign in through the identity proxy, which adds it')
      }
      try {
        return admitIfSameEmail(email, await emailIn(token))
      } catch (error) {
        if (error instanceof AssertionError) return refuse(`the assertion was refused: ${error.message}`, null)
        throw error
      }
    },
  }
}

/** Refuses a request for an email other than the asserted one. */
export function admitIfSameEmail(asked: string, asserted: string): Admission | Refusal {
  if (canonicalEmail(asked) === asserted) return admit(asserted)
  return refuse('the email of the assertion is not the email of the request', 'sign in with the email of the assertion')
}
