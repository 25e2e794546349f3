// Serves the pages to browsers, as one shell for all of them, and a list of links to other clients.
import { matchesEntityTag } from '../http/caching/conditional.ts'
import type { Endpoint, Handler } from '../http/handler.ts'
import { entityTag, type GatewayResponse, type Headers, jsonResponse } from '../http/response.ts'
import { REST_ROUTES } from '../rest/routes.ts'
import type { ExplorerBuild } from './assets.ts'
import { createBrowserDetector } from './browser.ts'

/** The element of the shell that its relative addresses resolve against. */
const BASE_ELEMENT = '<base href="/" />'

/**
 * Styles may be inline, because the GraphQL editor measures and colours its text that way. Scripts come from files
 * only.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const PAGE_HEADERS: Headers = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-cache',
  'content-security-policy': CONTENT_SECURITY_POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  vary: 'Accept',
}

const NOT_BUILT = `<!doctype html>
<html lang="en">
  <meta charset="utf-8" />
  <meta name="viewport" content="width=device-width" />
  <title>Workspace Gateway</title>
  <h1>Workspace Gateway is serving, but its pages are not built</h1>
  <p>Run <code>npm run build</code> where it is installed, then start it again.</p>
  <p>The API needs no pages: <code>curl</code> this address for the list of what it answers.</p>
</html>
`

/** Shows the page to browsers that open the GraphQL endpoint, and leaves everything else to `handle`. */
export function withGraphiql(endpoint: Endpoint, page: Handler): Endpoint {
  if (endpoint.method !== 'GET') return endpoint
  const isBrowser = createBrowserDetector()
  return {
    ...endpoint,
    handle: (request) =>
      isBrowser(request.header('accept')) && !/(?:^|&)query=/.test(request.search)
        ? page(request)
        : endpoint.handle(request),
  }
}

/** Returns the endpoints of `/`, for browsers and for other clients, and of the other pages. */
export function createPageEndpoints(page: Handler, basePath: string, isSchemaPublic: boolean): readonly Endpoint[] {
  const links = {
    graphql: `${basePath}/graphql`,
    ...(isSchemaPublic ? { schema: `${basePath}/schema.graphql` } : {}),
    openapi: `${basePath}/openapi.json`,
    rest: REST_ROUTES.map(({ method, path }) => `${method} ${basePath}${path}`),
    keys: `${basePath}/.well-known/jwks.json`,
    health: [`${basePath}/healthz`, `${basePath}/readyz`],
  }
  const isBrowser = createBrowserDetector()
  const home: Handler = async (request) =>
    isBrowser(request.header('accept')) ? page(request) : jsonResponse(links, { vary: 'Accept' })
  return [
    { method: 'GET', path: '/', handle: home },
    { method: 'GET', path: '/workspace', handle: page },
    { method: 'GET', path: '/docs', handle: page },
    { method: 'GET', path: '/sessions', handle: page },
  ]
}

/**
 * Returns the shell, which finds its files under the base path whatever page it is opened as. Calls `onOpen` for each
 * page view.
 */
export function createPage(build: ExplorerBuild | null, basePath: string, onOpen: () => void): Handler {
  const body = shellOf(build, basePath)
  const etag = entityTag(body)
  const headers: Headers = { ...PAGE_HEADERS, etag }
  const { 'content-type': _, ...headersOfUnchanged } = headers
  return async (request): Promise<GatewayResponse> => {
    // Runs after the shell has been handed to the connection.
    setImmediate(onOpen)
    return matchesEntityTag(request.header('if-none-match'), etag)
      ? { status: 304, headers: headersOfUnchanged, body: null }
      : { status: 200, headers, body }
  }
}

/**
 * A browser at an unknown address gets the shell, which says so and shows the way home. Other clients get the problem
 * document.
 */
export function withEmptyPage(handler: Handler, build: ExplorerBuild, basePath: string): Handler {
  const body = shellOf(build, basePath)
  const isBrowser = createBrowserDetector()
  const orShell = (response: GatewayResponse): GatewayResponse =>
    response.failureCode === 'NOT_FOUND' ? { ...response, headers: PAGE_HEADERS, body } : response
  return (request) => {
    const answering = handler(request)
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    return isRead && isBrowser(request.header('accept')) ? answering.then(orShell) : answering
  }
}

function shellOf(build: ExplorerBuild | null, basePath: string): Buffer {
  return Buffer.from(build ? build.shell.replace(BASE_ELEMENT, `<base href="${basePath}/" />`) : NOT_BUILT)
}
