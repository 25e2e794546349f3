// The table of algorithms that can sign access tokens: one for each key type.
import { type KeyObject, sign } from 'node:crypto'
import { type GenerateKeyPairResult, generateKeyPair } from 'jose/key/generate/keypair'

interface TokenAlgorithmRow {
  /** The key type (`kty`, RFC 7517 section 4.1). No two algorithms share one, so each key has exactly one algorithm. */
  readonly keyType: string
  readonly generate: () => Promise<GenerateKeyPairResult>
  /** Synchronous, because signing takes less time than handing the work to a thread and waiting for it. */
  readonly sign: (input: Uint8Array, privateKey: KeyObject) => Buffer
}

export const TOKEN_ALGORITHMS = {
  // Ed25519 under its JOSE name (RFC 8037).
  EdDSA: {
    keyType: 'OKP',
    generate: () => generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true }),
    sign: (input, privateKey) => sign(null, input, privateKey),
  },
  // RFC 7518 section 3.4: the signature is the two integers concatenated, not DER.
  ES256: {
    keyType: 'EC',
    generate: () => generateKeyPair('ES256', { extractable: true }),
    sign: (input, privateKey) => sign('sha256', input, { key: privateKey, dsaEncoding: 'ieee-p1363' }),
  },
  // RFC 7518 section 3.3. For verifiers that support nothing else: signing takes twenty times as long.
  RS256: {
    keyType: 'RSA',
    generate: () => generateKeyPair('RS256', { modulusLength: 2_048, extractable: true }),
    sign: (input, privateKey) => sign('sha256', input, privateKey),
  },
} as const satisfies Record<string, TokenAlgorithmRow>

export type TokenAlgorithm = keyof typeof TOKEN_ALGORITHMS

export const TOKEN_ALGORITHM_NAMES = ['EdDSA', 'ES256', 'RS256'] as const satisfies readonly TokenAlgorithm[]

export const DEFAULT_TOKEN_ALGORITHM: TokenAlgorithm = 'EdDSA'

/** The algorithm for a key type. Throws if no algorithm has that type. */
export function algorithmOf(keyType: string | undefined): TokenAlgorithm {
  const name = TOKEN_ALGORITHM_NAMES.find((one) => TOKEN_ALGORITHMS[one].keyType === keyType)
  if (name === undefined) throw new Error(`a signing key has the type ${keyType}, which this program does not support`)
  return name
}
