// The interface of sources that find the key of a signed assertion.
import type { CryptoKey, JWSHeaderParameters } from 'jose'

export interface KeySource {
  /**
   * The key for this JWS header; null if the issuer has no such key. Throws if the key is not known and the issuer
   * cannot be reached, and `UNAVAILABLE` if too many fetches are waiting.
   */
  readonly keyFor: (header: JWSHeaderParameters) => Promise<CryptoKey | null>
}

export interface KeySourceOptions {
  /** Minimum milliseconds between two loads that unknown keys cause. */
  readonly refetchMs: number
  /** Logs that keys could not be loaded. The last ones stay in use. */
  readonly report: (error: unknown) => void
}
