// Checks that the proxy passes requests and answers on unchanged and in time: bodies, headers, content coding,
// streaming.
import { PROBE_PAUSE_MS } from '../../../admin/probe.ts'
import { MAX_TOKEN_LENGTH } from '../../../auth/tokens/access-token.ts'
import type { Check, NotChecked, Verdict } from '../check.ts'
import { pathBelow } from './client.ts'
import {
  ALLOW_METHODS,
  checkSeen,
  codeOf,
  isOfGateway,
  isSeen,
  type Outside,
  passHeader,
  refusedBy,
  type Seen,
  see,
  unlessBrokenOff,
} from './context.ts'

const NO_TOKEN = 'doctor'
const GZIP = { 'accept-encoding': 'gzip' }
const JSON_BODY = { 'content-type': 'application/json' }
/** The first script of a page of the gateway. Its address is relative to the base path. */
const SCRIPT = /src="\.(\/assets\/[^"]+)"/

export const MESSAGE_CHECKS: readonly Check<Outside>[] = [
  { name: 'delete-body', run: byErrors(deleteBody) },
  { name: 'head', run: head },
  { name: 'graphql', run: graphql },
  { name: 'authorization', run: byErrors(authorization) },
  { name: 'problem-documents', run: problemDocuments },
  { name: 'compression', run: checkSeen(compression, GZIP) },
  { name: 'streaming', run: checkSeen(streaming) },
  { name: 'pages', run: pages },
  { name: 'public-keys', run: publicKeys },
  { name: 'metrics-open', run: metricsOpen },
]

export const ERRORS_ARE_LOST: NotChecked = {
  reason: 'this check needs the errors of the gateway, which do not arrive: see problem-documents',
}

/** Wraps a check that reads the gateway's errors. The check is skipped when a proxy replaces those errors. */
export function byErrors(run: (outside: Outside) => Promise<Verdict>): Check<Outside>['run'] {
  return async (outside) => ((await doErrorsArrive(outside)) ? run(outside) : ERRORS_ARE_LOST)
}

export async function doErrorsArrive(outside: Outside): Promise<boolean> {
  return (await problemDocuments(outside)) === null
}

/** Error codes of a retired route. The gateway answers with them before it looks at anything else. */
const RETIRED: readonly unknown[] = ['ROUTE_RETIRED', 'ROUTE_BROWNOUT']
const ROUTE_IS_RETIRED = { reason: 'the route is retired, or in a brownout' }

async function deleteBody({ ask }: Outside): Promise<Verdict> {
  const body = JSON.stringify({ refreshToken: NO_TOKEN })
  const reply = await ask({ method: 'DELETE', path: '/logout', headers: JSON_BODY, body }).catch(unlessBrokenOff)
  const code = reply ? codeOf(reply.body) : ''
  if (code === 'INVALID_TOKEN') return null
  if (RETIRED.includes(code)) return ROUTE_IS_RETIRED
  const gateway = 'POST /logout does the same for clients that can choose'
  if (code === 'UNAUTHENTICATED') {
    // No line for HAProxy: it passes a body on, or refuses it.
    return {
      problem: 'the body of a DELETE does not arrive: nobody can sign out with DELETE /logout',
      fix: {
        nginx: 'proxy_pass_request_body on; proxy_set_header Content-Length $content_length;',
        caddy: 'reverse_proxy 127.0.0.1:4000',
        gateway,
      },
    }
  }
  if (reply?.status === 413) {
    return {
      problem:
        'DELETE /logout is answered 413 in front of the gateway: HAProxy refuses the body of a DELETE that a proxy in front of it sends with HTTP/1.0, unless its section `global` allows that',
      fix: { nginx: 'proxy_http_version 1.1;', haproxy: 'h1-accept-payload-with-any-method', gateway },
    }
  }
  return { problem: `DELETE /logout ${refusedBy(reply)}`, fix: { ...ALLOW_METHODS, gateway } }
}

async function head({ ask }: Outside): Promise<Verdict> {
  const reply = await ask({ method: 'HEAD', path: '/openapi.json' }).catch(unlessBrokenOff)
  if (reply && isOfGateway(reply)) return null
  return {
    problem: `a HEAD request ${refusedBy(reply)}: programs that ask whether something is there or has changed are told that it is not`,
    fix: ALLOW_METHODS,
  }
}

async function graphql({ ask }: Outside): Promise<Verdict> {
  // It has the characters of most documents, which firewalls take for an attack.
  const query = 'query Doctor($is: Boolean! = true) { __typename @include(if: $is) }'
  const path = `/graphql?${new URLSearchParams({ query })}`
  const [posted, got] = await Promise.all([
    ask({ method: 'POST', path: '/graphql', headers: JSON_BODY, body: JSON.stringify({ query }) }).catch(
      unlessBrokenOff,
    ),
    ask({ path, headers: { accept: 'application/json' } }).catch(unlessBrokenOff),
  ])
  for (const [what, reply] of [
    ['in the body of a POST', posted],
    ['in the address of a GET', got],
  ] as const) {
    if (reply && isOfGateway(reply)) continue
    return {
      problem: `a GraphQL document ${what} ${refusedBy(reply)}: clients that send theirs so get nothing`,
      fix: {
        nginx: 'if ($query_string …) and if ($request_body …) must not be there',
        haproxy: 'http-request deny if { query … } or { req.body … } must not be there',
        caddy: 'a matcher of {query} must not be there',
        apache: 'RewriteCond %{QUERY_STRING} … and SecRule … must not be there',
      },
    }
  }
  return null
}

async function authorization(outside: Outside): Promise<Verdict> {
  const reply = await outside.ask({ path: '/projects', headers: { authorization: `Bearer ${NO_TOKEN}` } })
  const code = codeOf(reply.body)
  if (RETIRED.includes(code)) return ROUTE_IS_RETIRED
  if (code !== 'UNAUTHENTICATED') return longAuthorization(outside)
  return {
    problem: 'the header Authorization does not arrive: nobody can read anything',
    fix: passHeader('Authorization'),
  }
}

async function longAuthorization(outside: Outside): Promise<Verdict> {
  const headers = { authorization: `Bearer ${'x'.repeat(MAX_TOKEN_LENGTH)}` }
  const reply = await outside.ask({ path: '/projects', headers }).catch(unlessBrokenOff)
  const isLost = reply !== null && codeOf(reply.body) === 'UNAUTHENTICATED'
  if (reply && isOfGateway(reply) && !isLost) return challenge(outside)
  return {
    problem: `a token of ${MAX_TOKEN_LENGTH} characters in Authorization, the most that the gateway reads, ${isLost ? 'does not arrive' : refusedBy(reply)}: users with long tokens cannot read anything`,
    fix: {
      nginx: 'large_client_header_buffers 4 8k;',
      haproxy: 'tune.bufsize 16384',
      caddy: 'max_header_size 16KiB',
      apache: 'LimitRequestFieldSize 8190',
    },
  }
}

/** The gateway writes this header into each 401 (RFC 6750 section 3). */
async function challenge({ unauthenticated }: Outside): Promise<Verdict> {
  if ((await unauthenticated()).headers['www-authenticate'] !== undefined) return null
  return {
    problem: 'a 401 arrives without the header WWW-Authenticate: clients that wait for it do not send their token',
    fix: {
      nginx: 'proxy_hide_header WWW-Authenticate must not be there',
      haproxy: 'http-response del-header WWW-Authenticate must not be there',
      caddy: 'header_down -WWW-Authenticate must not be there',
      apache: 'Header unset WWW-Authenticate must not be there',
    },
  }
}

async function problemDocuments({ unauthenticated }: Outside): Promise<Verdict> {
  const reply = await unauthenticated()
  const type = reply.headers['content-type'] ?? ''
  const code = codeOf(reply.body)
  const isOwn = (reply.status === 401 && code === 'UNAUTHENTICATED') || RETIRED.includes(code)
  if (isOwn && type.startsWith('application/problem+json')) return null
  return {
    problem: `errors do not arrive as the gateway writes them: GET /projects without a token is answered ${reply.status} ${type || 'without a type'}`,
    fix: {
      nginx: 'proxy_intercept_errors off;',
      haproxy: 'http-response return and http-error must not be there for 401',
      caddy: 'handle_response must not be there for 401',
      apache: 'ProxyErrorOverride Off',
    },
  }
}

async function compression({ sighting }: Seen, { ask }: Outside): Promise<Verdict> {
  if (sighting.acceptEncoding.includes('gzip')) return null
  // The proxy may have removed the header because it compresses answers itself.
  const reply = await ask({ path: '/openapi.json', headers: GZIP })
  if (reply.headers['content-encoding'] !== undefined) return null
  return {
    problem: 'Accept-Encoding does not arrive: answers come uncompressed, several times as large',
    fix: passHeader('Accept-Encoding'),
  }
}

async function streaming(first: Seen, outside: Outside): Promise<Verdict> {
  if (isInTwoParts(first)) return null
  // A machine that was busy for a moment looks the same, so it asks again. A buffering proxy holds back the next answer
  // too.
  const second = await see(outside, { 'x-doctor': 'once more' })
  if (!isSeen(second)) return second
  if (isInTwoParts(second)) return null
  return {
    problem:
      'the proxy holds answers back until they are complete: the progress of imports and the start of long exports arrive late',
    fix: {
      nginx: 'proxy_buffering off;',
      haproxy: 'no option http-buffer-request',
      caddy: 'flush_interval -1',
      apache: 'ProxyPass / http://127.0.0.1:4000/ flushpackets=on',
    },
  }
}

/**
 * HAProxy may delay the beginning by 200 ms, for which Linux waits for more to send with it. That is not yet held back.
 */
function isInTwoParts({ spanMs }: Seen): boolean {
  return spanMs >= PROBE_PAUSE_MS / 4
}

async function pages({ ask, target }: Outside): Promise<Verdict> {
  const page = await ask({ path: '/', headers: { accept: 'text/html' } })
  const path = isOfGateway(page) ? SCRIPT.exec(page.body.toString())?.[1] : undefined
  // The operator may show another page there, or none.
  if (path === undefined) return null
  const reply = await ask({ path }).catch(unlessBrokenOff)
  if (reply && isOfGateway(reply)) return null
  return {
    problem: `a script of the pages ${refusedBy(reply)}: the pages stay empty`,
    fix: {
      nginx: `location ^~ ${pathBelow(target.url, '/assets/')} { proxy_pass http://127.0.0.1:4000; }`,
      haproxy: `use_backend gateway if { path_beg ${pathBelow(target.url, '/assets/')} }`,
      caddy: `reverse_proxy ${pathBelow(target.url, '/assets/*')} 127.0.0.1:4000`,
      apache: 'ProxyPass / http://127.0.0.1:4000/',
    },
  }
}

async function publicKeys({ ask, target }: Outside): Promise<Verdict> {
  const reply = await ask({ path: '/.well-known/jwks.json' }).catch(unlessBrokenOff)
  if (reply && isOfGateway(reply)) return null
  const path = pathBelow(target.url, '/.well-known/')
  return {
    problem: `GET ${path}jwks.json ${refusedBy(reply)}: other services cannot verify access tokens`,
    fix: {
      nginx: 'location ~ /\\.(?!well-known/) { deny all; } # and only /.well-known/acme-challenge/ from a folder',
      haproxy: `http-request deny if { path_sub /. } !{ path_beg ${path} }`,
      caddy: `handle ${path}* before what else names it`,
      apache: 'RedirectMatch 404 /\\.(?!well-known/)',
    },
  }
}

async function metricsOpen({ ask, target }: Outside): Promise<Verdict> {
  const path = pathBelow(target.url, '/metrics')
  const { status, body } = await ask({ path: '/metrics' })
  if (status !== 200 || !body.includes('# TYPE')) return null
  return {
    problem: 'the metrics of the gateway are open to anyone who reaches this address',
    fix: {
      nginx: `location = ${path} { deny all; }`,
      haproxy: `http-request deny if { path ${path} }`,
      caddy: `respond ${path} 403`,
      apache: `ProxyPass ${path} !`,
    },
  }
}
