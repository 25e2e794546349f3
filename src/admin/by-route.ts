// What is the same for all requests of a route with the same outcome, made once.
import type { Route } from '../http/request-record.ts'

/**
 * `make` for each route and variant (a whole number, of few) that there is: what it answers is kept. It is made anew each time where
 * the route is null, for a path that there is not.
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
