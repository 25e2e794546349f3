// The guard for proxies that only send the email: believed from listed peers that also know a secret.
import { hash, timingSafeEqual } from 'node:crypto'
import { canonicalEmail } from '../../email.ts'
import { type LoginGuard, refuse } from '../guard.ts'
import { matching } from './assertion.ts'

/** A guess takes longer than anybody has. */
export const MIN_SECRET_LENGTH = 32

export interface UnsignedAssertionOptions {
  /** With the email, lower case. */
  readonly header: string
  /** With the secret, lower case. */
  readonly secretHeader: string
  readonly secret: string
}

export function createUnsignedAssertionGuard({ header, secretHeader, secret }: UnsignedAssertionOptions): LoginGuard {
  const expected = hash('sha256', secret, 'buffer')
  return {
    name: 'assertion',
    decide({ caller, email }) {
      const [asserted, presented] = [caller.header(header), caller.header(secretHeader)]
      if (asserted === undefined || presented === undefined) {
        const reason = 'the request did not come through the identity proxy'
        return { ...refuse(reason, 'sign in through it'), outcome: 'passed' }
      }
      // Hashed first, so that the comparison takes the same time for every length too.
      const isKnown = timingSafeEqual(hash('sha256', presented, 'buffer'), expected)
      if (!caller.peer.isTrustedProxy || !isKnown) {
        return refuse(
          'the identity proxy is not one this gateway believes',
          'the option trusted-proxy and the secret header of the proxy',
        )
      }
      const canonical = canonicalEmail(asserted)
      return canonical === null ? refuse('the identity proxy names no email', null) : matching(email, canonical)
    },
    chargesLimits: () => false,
  }
}
