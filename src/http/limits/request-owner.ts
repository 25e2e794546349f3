// Determines the owner of a waiting request from what is already known about its token: verifying a token takes longer
// than many an answer.
import { bearerToken } from '../../auth/bearer.ts'
import type { Caller } from '../../auth/caller.ts'
import { networkOf } from '../../auth/limits/network.ts'
import type { AccessTokens } from '../../auth/tokens/access-token.ts'
import type { Owner } from './fair-line.ts'

/** Returns the owner of a waiting request. */
export type OwnerOf = (caller: Caller) => Owner

/**
 * The owner is the user of a token that was issued or verified by this process, whichever of the user's tokens it is.
 * Otherwise the owner is the network that the request comes from: a client that makes up tokens gets one turn for all
 * of them.
 */
export function createOwnerOf({ emailOf }: Pick<AccessTokens, 'emailOf'>): OwnerOf {
  return (caller) => {
    const token = bearerToken(caller)
    const email = token === null ? null : emailOf(token)
    if (email !== null) return { name: email, isKnown: true }
    return { name: networkOf(caller.client.address), isKnown: false }
  }
}
