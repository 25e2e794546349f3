// What finds the key that an assertion says it is signed with.
import type { CryptoKey, JWSHeaderParameters } from 'jose'

export interface KeySource {
  /** The key for this header, null when the issuer has none like it. Throws when the issuer was never reached, and `UNAVAILABLE` when it is not to be asked now. */
  readonly keyFor: (header: JWSHeaderParameters) => Promise<CryptoKey | null>
}

export interface KeySourceOptions {
  /** Between two loads that unknown keys ask for, at least. */
  readonly refetchMs: number
  /** For the log: keys could not be loaded, and the last ones stay. */
  readonly report: (error: unknown) => void
}
