// Describes in the OpenAPI document that a route is being retired (OpenAPI 3.1, section 4.8.10, `deprecated`).
import { type RouteRetirement, timeOf } from '../retirement/plan.ts'
import type { Json } from './parts.ts'

/** Returns nothing for a route that stays, or that only has brownouts. */
export function deprecationOf(route: RouteRetirement | undefined): Json {
  const { deprecatedAt = null, sunsetAt = null, link = null } = route ?? {}
  if (deprecatedAt === null && sunsetAt === null) return {}
  const sentences = [
    ...(deprecatedAt === null ? [] : [`Deprecated as of ${timeOf(deprecatedAt)}.`]),
    ...(sunsetAt === null ? [] : [`Answers 410 from ${timeOf(sunsetAt)} on.`]),
  ]
  return {
    deprecated: true,
    description: sentences.join(' '),
    ...(link === null ? {} : { externalDocs: { url: link } }),
  }
}
