// Caches a value that all requests of a route with the same outcome share.
import type { Route } from '../http/request-record.ts'

/**
 * Calls `make` once per route and variant (one of a few whole numbers) and caches the result. For a path without a
 * route (`null`) it calls `make` every time.
 */
export function createByRoute<T extends object | string>(
  make: (method: string, route: Route | null, variant: number) => T,
): (method: string, route: Route | null, variant: number) => T {
  const known = new Map<Route, Map<number, T>>()

  return (method, route, variant) => {
    if (route === null) return make(method, route, variant)
    const ofRoute = known.get(route) ?? new Map<number, T>()
    const found = ofRoute.get(variant)
    if (found !== undefined) return found
    const made = make(method, route, variant)
    known.set(route, ofRoute.set(variant, made))
    return made
  }
}
