// The rules of mailed codes: how long a code is valid, and how many mails are sent.
import type { CodeRules } from '../../../store/sign-in/code-contract.ts'

const HOUR_MS = 3_600_000
const CODE_TTL_MS = 600_000
const KNOWN_NETWORK_TTL_MS = 180 * 24 * HOUR_MS
const MAX_PER_ADDRESS_AND_NETWORK = 5

/** The rules that the operator sets. The maxima are mails per hour; see `CodeRules`. */
export type CodeOptions = Pick<CodeRules, 'isForKnownUsersOnly' | 'maxPerAddress' | 'maxPerNetwork' | 'maxTotal'>

export function codeRules({ isForKnownUsersOnly, maxPerAddress, maxPerNetwork, maxTotal }: CodeOptions): CodeRules {
  return {
    windowMs: HOUR_MS,
    codeTtlMs: CODE_TTL_MS,
    knownNetworkTtlMs: KNOWN_NETWORK_TTL_MS,
    maxPerAddressAndNetwork: MAX_PER_ADDRESS_AND_NETWORK,
    isForKnownUsersOnly,
    maxPerAddress,
    maxPerNetwork,
    maxTotal,
  }
}
