// Routes a request to its endpoint by exact path, then by method.
import { GatewayError } from '../errors.ts'
import { METHODS } from '../http-builtin.ts'
import { isPreflight } from './cors.ts'
import type { Endpoint, Handler } from './handler.ts'
import type { Route } from './request-record.ts'

interface Row {
  readonly route: Route
  readonly handle: Handler
}

/**
 * Answers 404 for an unknown path, 405 with `Allow` for an unknown method, `OPTIONS` for every path and for `*`, and
 * `HEAD` for every GET.
 */
export function createRouter(endpoints: readonly Endpoint[]): Handler {
  const paths = new Map<string, Map<string, Row>>()
  for (const { path, method, handle } of endpoints) {
    const methods = paths.get(path) ?? new Map<string, Row>()
    paths.set(path, methods.set(method, { route: { method, path }, handle }))
    if (method === 'GET') methods.set('HEAD', { route: { method: 'HEAD', path }, handle })
  }
  for (const [path, methods] of paths) {
    const allow = [...methods.keys(), 'OPTIONS'].join(', ')
    methods.set('OPTIONS', { route: { method: 'OPTIONS', path }, handle: answerOptions(allow) })
  }
  const allMethods = new Set([...paths.values()].flatMap((methods) => [...methods.keys()]))
  const answerOptionsOfServer = answerOptions([...allMethods].join(', '))
  const refusedRouteOf = createRefusedRoutes()

  return (request) => {
    const methods = paths.get(request.path)
    if (!methods) {
      // RFC 9110 section 9.3.7: `OPTIONS *` asks about the server as a whole.
      if (request.path === '*' && request.method === 'OPTIONS') return answerOptionsOfServer(request)
      // After a preflight that fails, a page never sends the request whose answer would say that the path is wrong.
      if (isPreflight(request)) return answerOptionsOfServer(request)
      throw notFound(request.path, paths)
    }
    const row = methods.get(request.method)
    request.record.route = row ? row.route : refusedRouteOf(request)
    if (!row) throw methodNotAllowed([...methods.keys()].join(', '))
    return row.handle(request)
  }
}

/** Addresses are often joined from parts, so that a slash is left over at one of the ends of the path. */
function notFound(path: string, known: ReadonlyMap<string, unknown>): GatewayError {
  const hasSlashTooMany = known.has(path.slice(1)) || (path.endsWith('/') && known.has(path.slice(0, -1)))
  const message = 'There is nothing at this path. Leave out the slash that is too many.'
  return new GatewayError('NOT_FOUND', hasSlashTooMany ? { message } : {})
}

/** Pages of another origin cannot read `Allow`, so the message has it too. */
function methodNotAllowed(allow: string): GatewayError {
  return new GatewayError('METHOD_NOT_ALLOWED', { allow, message: `This path supports only ${allow}.` })
}

function answerOptions(allow: string): Handler {
  return async () => ({ status: 204, headers: { allow }, body: null })
}

/**
 * Creates the `Route` of a method that its path does not have: one object per combination, on first use. Returns null
 * for a method that HTTP does not know.
 */
function createRefusedRoutes(): (asked: Route) => Route | null {
  const known = new Map<string, Map<string, Route>>()

  return ({ method, path }) => {
    if (!METHODS.includes(method)) return null
    const methods = known.get(path) ?? new Map<string, Route>()
    const route = methods.get(method) ?? { method, path }
    known.set(path, methods.set(method, route))
    return route
  }
}
