// Retires routes: announces the retirement in their answers, and refuses at the times of the plan.
import { GatewayError } from '../../errors.ts'
import type { Endpoint, Middleware } from '../../http/handler.ts'
import { type Headers, withHeaders } from '../../http/response.ts'
import { REST_ROUTES } from '../routes.ts'
import { type RetirementPlan, type RouteRetirement, timeOf } from './plan.ts'

export interface Retirement {
  /** Adds the announcement to every answer of these routes, including failures and 304. */
  readonly announce: Middleware
  /** Returns the same endpoint, with a check that refuses first. */
  readonly refuse: (endpoint: Endpoint) => Endpoint
}

export function createRetirement(plan: RetirementPlan, clock: () => number): Retirement {
  const announcements = new Map<string, Headers>([...plan].map(([path, route]) => [path, announcementOf(route)]))

  return {
    announce: (next) => async (request) => {
      const reply = await next(request)
      const headers = announcements.get(request.record.route?.path ?? '')
      return headers ? withHeaders(reply, headers) : reply
    },
    refuse(endpoint) {
      const { method, path } = endpoint
      const route = plan.get(path)
      const row = REST_ROUTES.find((one) => one.method === method && one.path === path)
      if (!route || !row) return endpoint
      return {
        ...endpoint,
        async handle(request) {
          requireAnswering(route, `${method} ${path}`, row.twin, clock())
          return endpoint.handle(request)
        },
      }
    },
  }
}

/**
 * Builds the header fields of the announcement: `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and their links. A link
 * without a date names a page about deprecations, which does not make the route deprecated (RFC 9745).
 */
function announcementOf({ deprecatedAt, sunsetAt, link }: RouteRetirement): Readonly<Record<string, string>> {
  const links = [
    ...(link !== null && (deprecatedAt !== null || sunsetAt === null) ? [`<${link}>; rel="deprecation"`] : []),
    ...(link !== null && sunsetAt !== null ? [`<${link}>; rel="sunset"`] : []),
  ]
  return {
    ...(deprecatedAt === null ? {} : { deprecation: `@${Math.floor(deprecatedAt / 1_000)}` }),
    ...(sunsetAt === null ? {} : { sunset: new Date(sunsetAt).toUTCString() }),
    ...(links.length === 0 ? {} : { link: links.join(', ') }),
  }
}

/** Throws `ROUTE_RETIRED` and `ROUTE_BROWNOUT`. */
function requireAnswering(
  { sunsetAt, link, brownouts }: RouteRetirement,
  name: string,
  twin: string,
  now: number,
): void {
  const help = `In GraphQL: ${twin}${link === null ? '' : ` (more at ${toReadable(link)})`}`
  if (sunsetAt !== null && now >= sunsetAt) {
    throw new GatewayError('ROUTE_RETIRED', { message: `${name} was retired at ${timeOf(sunsetAt)}. ${help}` })
  }
  const until = endOfBrownout(brownouts, now)
  if (until === null) return
  const when = sunsetAt === null ? 'will be retired' : `will be retired at ${timeOf(sunsetAt)}`
  throw new GatewayError('ROUTE_BROWNOUT', {
    message: `${name} ${when}, and does not answer until ${timeOf(until)}. ${help}`,
    retryAfterSeconds: Math.ceil((until - now) / 1_000),
  })
}

/** Escapes every `@` after the host: the redaction of problem texts would mistake it for an email address. */
function toReadable(link: string): string {
  const [site = ''] = /^https?:\/\/[^/?#]*/.exec(link) ?? []
  return site + link.slice(site.length).replaceAll('@', '%40')
}

/** Returns when the current brownout ends, or null when there is none. Windows may overlap or touch. */
function endOfBrownout(brownouts: RouteRetirement['brownouts'], now: number): number | null {
  let end = now
  for (const { from, until } of brownouts.toSorted((a, b) => a.from - b.from)) {
    if (from <= end && end < until) end = until
  }
  return end > now ? end : null
}
