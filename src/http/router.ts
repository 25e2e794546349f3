// Which endpoint answers: exact paths, then methods.
import { GatewayError } from '../errors.ts'
import type { Endpoint, Handler } from './handler.ts'

/** 404 for an unknown path, 405 with `Allow` for an unknown method, `OPTIONS` for every path, `HEAD` for every GET. */
export function createRouter(endpoints: readonly Endpoint[]): Handler {
  const paths = new Map<string, Map<string, Handler>>()
  for (const { path, method, handle } of endpoints) {
    const methods = paths.get(path) ?? new Map<string, Handler>()
    paths.set(path, methods.set(method, handle))
    if (method === 'GET') methods.set('HEAD', handle)
  }

  return (request) => {
    const methods = paths.get(request.path)
    if (!methods) throw new GatewayError('NOT_FOUND')
    const handle = methods.get(request.method)
    if (handle) return handle(request)
    const allow = [...methods.keys(), 'OPTIONS'].join(', ')
    if (request.method === 'OPTIONS') return Promise.resolve({ status: 204, headers: { allow }, body: null })
    throw new GatewayError('METHOD_NOT_ALLOWED', { allow })
  }
}
