// The guard for proxies that send only the email: it trusts listed proxies that also send a secret.
import { hash, timingSafeEqual } from 'node:crypto'
import { vouchedEmail } from '../../email.ts'
import { type LoginGuard, pass, refuse } from '../guard.ts'
import { admitIfSameEmail } from './assertion.ts'

/** Minimum number of characters, so that the secret cannot be guessed. */
export const MIN_SECRET_LENGTH = 32

export interface UnsignedAssertionOptions {
  /** Name of the header with the email, in lower case. */
  readonly header: string
  /** Name of the header with the secret, in lower case. */
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
        return pass('the request did not come through the identity proxy', 'sign in through the proxy')
      }
      // Compares hashes, so that the time does not depend on the length of the secret either.
      const isKnown = timingSafeEqual(hash('sha256', presented, 'buffer'), expected)
      if (!caller.peer.mayForward || !isKnown) {
        return refuse(
          'this gateway does not trust the identity proxy',
          'list the proxy in the option trusted-proxy, and check the secret header that it sends',
        )
      }
      const canonical = vouchedEmail(asserted)
      return canonical === null
        ? refuse('the identity proxy sent no valid email address', null)
        : admitIfSameEmail(email, canonical)
    },
  }
}
