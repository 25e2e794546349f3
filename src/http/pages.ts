// What a browser is shown: GraphiQL at /graphql, served from this package, and the way there from /.
import { matchesEntityTag } from './conditional.ts'
import type { Endpoint, Handler } from './handler.ts'
import { entityTag, jsonReply, type Reply } from './reply.ts'
import { READ_ROUTES, SESSION_ROUTES } from './routes.ts'

const FIRST_QUERY = `# 1. Sign in: run this, and copy the accessToken it answers.
mutation SignIn {
  login(email: "demo@example.com") {
    accessToken
    refreshToken
  }
}

# 2. Put it into the Headers tab below: { "Authorization": "Bearer <accessToken>" }
# 3. Run this.
query Workspace {
  me {
    email
    projects {
      name
      framework
      updatedAt
      latestExport {
        createdAt
        elementCount
      }
    }
  }
}
`

/** Answers browsers that open the GraphQL endpoint with GraphiQL, and leaves everything else to `handle`. */
export function withGraphiql(endpoint: Endpoint, basePath: string): Endpoint {
  if (endpoint.method !== 'GET') return endpoint
  let page: Promise<Page> | null = null
  const handle: Handler = (request) => {
    if (request.header('accept')?.includes('text/html') !== true || /(?:^|&)query=/.test(request.search)) {
      return endpoint.handle(request)
    }
    page ??= graphiqlPage(`${basePath}${endpoint.path}`)
    return page.then((ready) => pageReply(ready, request.header('if-none-match')))
  }
  return { ...endpoint, handle }
}

/** A JSON list of links, and for browsers the way to GraphiQL. */
export function createHomeEndpoint(basePath: string): Endpoint {
  const links = {
    graphql: `${basePath}/graphql`,
    rest: [...SESSION_ROUTES, ...READ_ROUTES].map(({ method, path }) => `${method} ${basePath}${path}`),
    keys: `${basePath}/.well-known/jwks.json`,
    health: [`${basePath}/healthz`, `${basePath}/readyz`],
  }
  return {
    method: 'GET',
    path: '/',
    async handle(request) {
      if (request.header('accept')?.includes('text/html') !== true) return jsonReply(links, { vary: 'Accept' })
      return { status: 302, headers: { location: links.graphql, vary: 'Accept' }, body: null }
    },
  }
}

interface Page {
  readonly html: Uint8Array
  readonly tag: string
}

/** The page is some megabytes of script: loaded when the first browser asks. */
async function graphiqlPage(endpoint: string): Promise<Page> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql')
  const html = Buffer.from(renderGraphiQL({ title: 'Workspace Gateway', endpoint, defaultQuery: FIRST_QUERY }))
  return { html, tag: entityTag(html) }
}

function pageReply({ html, tag }: Page, ifNoneMatch: string | undefined): Reply {
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    etag: tag,
    vary: 'Accept',
    'referrer-policy': 'no-referrer',
    'content-security-policy': "frame-ancestors 'none'",
  }
  if (matchesEntityTag(ifNoneMatch, tag)) return { status: 304, headers, body: null }
  return { status: 200, headers, body: html }
}
