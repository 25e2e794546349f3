// The retirement plan of routes: since when each is deprecated, when it refuses for a while, and from when on it is
// gone.

/**
 * A short period in which a route refuses, so that its remaining callers notice. Times are in milliseconds since the
 * epoch.
 */
export interface Brownout {
  readonly from: number
  /** Exclusive. */
  readonly until: number
}

/** Times are in milliseconds since the epoch; null when not set. */
export interface RouteRetirement {
  readonly deprecatedAt: number | null
  readonly sunsetAt: number | null
  /** Address of a page with more information. */
  readonly link: string | null
  readonly brownouts: readonly Brownout[]
}

/** Keyed by path, without the base path. A route that is not in the plan stays. */
export type RetirementPlan = ReadonlyMap<string, RouteRetirement>

/** Formats a time for display (RFC 3339), without a fraction when it is a whole second. */
export function timeOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('.000Z', 'Z')
}
