// Whose turn it is when requests wait: told by what is known of a token already, since verifying one takes longer than many an answer.
import type { Caller } from '../../auth/caller.ts'
import { networkOf } from '../../auth/limits/network.ts'
import type { AccessTokens } from '../../auth/tokens/access-token.ts'
import { bearerToken } from '../bearer.ts'
import type { Owner } from './fair-line.ts'

/** Whom a request that waits belongs to. */
export type OwnerOf = (caller: Caller) => Owner

/**
 * The user of a token that was issued or verified here, whichever of theirs it is. Else the network that the request comes from: whoever makes
 * tokens up has one turn for all of them.
 */
export function createOwnerOf({ emailOf }: Pick<AccessTokens, 'emailOf'>): OwnerOf {
  return (caller) => {
    const token = bearerToken(caller)
    const email = token === null ? null : emailOf(token)
    if (email !== null) return { name: email, isKnown: true }
    return { name: networkOf(caller.client.address), isKnown: false }
  }
}
