// Converts the options about retiring routes to a plan by path, checked against the route table.
import { UsageError } from '../../errors.ts'
import type { Brownout, RetirementPlan, RouteRetirement } from '../../rest/retirement/plan.ts'
import { REST_ROUTES } from '../../rest/routes.ts'
import type { RetirementConfig } from '../options/retirement/retirement-options.ts'

const PATHS = [...new Set(REST_ROUTES.map(({ path }) => path))]
const EVERY_ROUTE = '*'

interface PerRoute<T> {
  readonly path: string
  readonly value: T
}

/** Throws one `UsageError` that names every path that is not a route of the contract. */
export function requireKnownPaths(flag: string, rows: readonly PerRoute<unknown>[]): void {
  const wrong = rows.filter(({ path }) => path !== EVERY_ROUTE && !PATHS.includes(path))
  const sentences = wrong.map(({ path }) => `${flag}: ${path} is not one of ${PATHS.join(', ')}`)
  if (wrong.length > 0) throw new UsageError(sentences.join('\n'))
}

/** Expects known paths only (`requireKnownPaths`). Throws one `UsageError` that names every problem. */
export function toRetirementPlan(config: RetirementConfig): RetirementPlan {
  const { deprecated, sunset, deprecationLink, brownout } = config
  const wrong: string[] = []
  const plan = new Map<string, RouteRetirement>()
  for (const path of PATHS) {
    const route = {
      deprecatedAt: lastOf(deprecated, path),
      sunsetAt: lastOf(sunset, path),
      link: lastOf(deprecationLink, path),
      brownouts: valuesOf<Brownout>(brownout, path),
    }
    const { deprecatedAt, sunsetAt, link, brownouts } = route
    // RFC 9745 section 3: the sunset must not be before the deprecation.
    if (deprecatedAt !== null && sunsetAt !== null && sunsetAt < deprecatedAt) {
      wrong.push(`--sunset: ${path} would end before it is deprecated`)
    }
    const isNamed = deprecatedAt !== null || sunsetAt !== null || link !== null || brownouts.length > 0
    if (isNamed) plan.set(path, route)
  }
  if (wrong.length > 0) throw new UsageError(wrong.join('\n'))
  return plan
}

/** Values for `*` first, then those of the path itself, so that the last one is the most specific. */
function valuesOf<T>(rows: readonly PerRoute<T>[], path: string): readonly T[] {
  const named = (name: string) => rows.flatMap((row) => (row.path === name ? [row.value] : []))
  return [...named(EVERY_ROUTE), ...named(path)]
}

function lastOf<T>(rows: readonly PerRoute<T>[], path: string): T | null {
  return valuesOf(rows, path).at(-1) ?? null
}
