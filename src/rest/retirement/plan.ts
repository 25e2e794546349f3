// When routes go: since when each is deprecated, when it does not answer for a while, and from when on it is gone.

/** A short time in which a route refuses, so that its remaining callers notice. Milliseconds since the epoch. */
export interface Brownout {
  readonly from: number
  /** Exclusive. */
  readonly until: number
}

/** Times are in milliseconds since the epoch; null where none was set. */
export interface RouteRetirement {
  readonly deprecatedAt: number | null
  readonly sunsetAt: number | null
  /** An address with more about it. */
  readonly link: string | null
  readonly brownouts: readonly Brownout[]
}

/** By path, without the base path: what is not there stays. */
export type RetirementPlan = ReadonlyMap<string, RouteRetirement>

/** As people are told it, in whole seconds where it is one (RFC 3339). */
export function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('.000Z', 'Z')
}
