// Checks that the pages of other origins can use the gateway through the proxy if the operator lists them, and only then.
import type { Check, Fix, Verdict } from '../check.ts'
import type { Reply } from './client.ts'
import { ALLOW_METHODS, DOCUMENT, isOfGateway, type Outside, refusedBy, unlessBrokenOff } from './context.ts'

/** Reserved for documentation (RFC 2606), so no page has this origin. */
const UNLISTED_ORIGIN = 'https://doctor.example.com'
/** What the page needs that signs out, and that reads again what it holds a copy of. */
const [METHOD, HEADERS] = ['DELETE', ['authorization', 'content-type', 'if-none-match']] as const

export const CORS_CHECKS: readonly Check<Outside>[] = [
  { name: 'cors', run: cors },
  { name: 'preflight', run: preflight },
]

const NO_HEADERS_OF_PROXY: Fix = {
  nginx: 'add_header Access-Control-… must not be there',
  haproxy: 'http-response set-header and add-header Access-Control-… must not be there',
  caddy: 'header Access-Control-… must not be there',
  apache: 'Header set Access-Control-… must not be there',
}

const NO_ANSWER_OF_PROXY: Fix = {
  nginx: 'if ($request_method = OPTIONS) { … return 204; } must not be there',
  haproxy: 'http-request return if METH_OPTIONS must not be there',
  caddy: 'respond to OPTIONS must not be there',
  apache: 'RewriteRule … [R=204] must not be there',
}

async function cors({ ask, corsOrigins }: Outside): Promise<Verdict> {
  for (const origin of [UNLISTED_ORIGIN, ...corsOrigins.slice(0, 1).map(originOf)]) {
    const reply = await ask({ path: DOCUMENT.path, headers: { 'accept-encoding': 'gzip', origin } })
    const harm = isOfGateway(reply) ? harmOf(reply, origin) : null
    if (harm === null) continue
    return {
      problem: `the proxy adds CORS headers of its own. A page of ${origin} gets ${corsOf(reply)}: ${harm}`,
      fix: NO_HEADERS_OF_PROXY,
    }
  }
  return null
}

/**
 * What the headers of a proxy lead to, or null. The gateway writes one origin, together with the names of the response
 * headers that the page may read.
 */
function harmOf({ headers }: Reply, origin: string): string | null {
  const allowed = headers['access-control-allow-origin'] ?? ''
  if (allowed.includes(',')) return 'browsers refuse two values, so the page can read nothing'
  const isOfGatewayItself = headers['access-control-expose-headers']?.includes('API-Version')
  if (isOfGatewayItself || (allowed !== '*' && allowed !== origin)) return null
  return 'pages of origins that --cors-origin does not list may read answers'
}

function corsOf({ headers }: Reply): string {
  const names = ['Access-Control-Allow-Origin', 'Access-Control-Allow-Credentials']
  const shown = names.flatMap((name) => {
    const value = headers[name.toLowerCase()]
    return value === undefined ? [] : [`${name}: ${value}`]
  })
  return shown.join(' and ')
}

/** Judges the answer as browsers do. Without a listed origin, no preflight has to succeed. */
async function preflight({ ask, corsOrigins }: Outside): Promise<Verdict> {
  const [listed] = corsOrigins
  if (listed === undefined) return null
  const origin = originOf(listed)
  const headers = {
    origin,
    'access-control-request-method': METHOD,
    'access-control-request-headers': HEADERS.join(','),
  }
  const reply = await ask({ method: 'OPTIONS', path: '/logout', headers }).catch(unlessBrokenOff)
  const about = `a preflight of a page of ${origin}, which --cors-origin lists,`
  const harm = 'browsers do not let the page read or sign out'
  if (reply === null || Math.floor(reply.status / 100) !== 2)
    return { problem: `${about} ${refusedBy(reply)}: ${harm}`, fix: ALLOW_METHODS }
  const missing = missingIn(reply, origin)
  if (missing.length === 0) return null
  return {
    problem: `${about} is answered without ${missing.join(' and without ')}: ${harm}`,
    fix: isOfGateway(reply)
      ? { gateway: `--cors-origin ${corsOrigins.join(',')}`, ...NO_HEADERS_OF_PROXY }
      : NO_ANSWER_OF_PROXY,
  }
}

/** What a browser misses in the answer to a preflight (https://fetch.spec.whatwg.org/#cors-preflight-fetch). */
function missingIn({ headers }: Reply, origin: string): readonly string[] {
  const allowed = headers['access-control-allow-origin'] ?? ''
  const methods = namesIn(headers['access-control-allow-methods'])
  const names = namesIn(headers['access-control-allow-headers']?.toLowerCase())
  // A star stands for every header but Authorization.
  const isNamed = (name: string) => names.includes(name) || (names.includes('*') && name !== 'authorization')
  const missing = HEADERS.filter((name) => !isNamed(name))
  return [
    // `cors` reports two values.
    ...(allowed === origin || /[*,]/.test(allowed) ? [] : [`Access-Control-Allow-Origin: ${origin}`]),
    ...(methods.some((name) => name === METHOD || name === '*') ? [] : [`Access-Control-Allow-Methods: ${METHOD}`]),
    ...(missing.length === 0 ? [] : [`Access-Control-Allow-Headers: ${missing.join(', ')}`]),
  ]
}

function namesIn(list = ''): readonly string[] {
  return list.split(',').map((name) => name.trim())
}

/** An origin that an entry of `--cors-origin` lists. */
function originOf(listed: string): string {
  return listed === '*' ? UNLISTED_ORIGIN : listed.replace('*', 'doctor')
}
