// What is the same for all requests of a route with the same outcome, made once.
import type { Route } from '../http/request-record.ts'

/**
 * Calls `make` once for each route and variant (one of few whole numbers) and keeps what it answers. For a path without a route, `null`,
 * it is called each time.
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
