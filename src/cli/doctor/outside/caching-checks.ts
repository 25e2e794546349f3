// Checks that caches can work with the answers: conditional requests and the headers about caching arrive unchanged, and
// no proxy keeps what must not be kept.
import { entityTag } from '../../../http/response.ts'
import type { Check, NotChecked, Verdict } from '../check.ts'
import type { Reply } from './client.ts'
import { checkSeen, DOCUMENT, isOfGateway, isSeen, type Outside, passHeader, type Seen, see } from './context.ts'

/** Directives that allow a cache to keep an answer without asking. */
const KEEPS = /\b(?:public|(?:s-maxage|max-age)=0*[1-9])/i

export const CACHING_CHECKS: readonly Check<Outside>[] = [
  { name: 'bytes', run: bytes },
  { name: 'conditional-requests', run: conditionalRequests },
  { name: 'vary', run: vary },
  { name: 'shared-cache', run: checkSeen(sharedCache) },
]

const LOADED_AGAIN = 'no read is answered 304, so clients load again all of what has not changed'
const NO_DOCUMENT: NotChecked = { reason: `this check needs GET ${DOCUMENT.path}, which the gateway does not answer` }
const DOCUMENT_CHANGED: NotChecked = {
  reason: `GET ${DOCUMENT.path} has another entity tag each time: nodes of several versions answer, or the proxy changes it`,
}

/** A proxy that weakens a tag does no harm: the gateway compares tags as RFC 9110 section 13.1.2 says. */
async function conditionalRequests(outside: Outside): Promise<Verdict> {
  const first = await outside.document()
  if (!isDocument(first)) return NO_DOCUMENT
  const { etag } = first.headers
  if (etag === undefined) return tagIsLost('without an ETag')
  const second = await askIf(outside, etag)
  if (second.status === 304) return null
  if (second.headers.etag !== etag) return DOCUMENT_CHANGED
  if ((await askIf(outside, '*')).status === 304) return tagIsLost(`with another ETag than the gateway sent, ${etag}`)
  return {
    problem: `If-None-Match does not arrive: ${LOADED_AGAIN}`,
    fix: passHeader('If-None-Match'),
  }
}

function askIf({ ask }: Outside, tag: string): Promise<Reply> {
  return ask({ ...DOCUMENT, headers: { ...DOCUMENT.headers, 'if-none-match': tag } })
}

function isDocument(reply: Reply): boolean {
  return reply.status === 200 && isOfGateway(reply)
}

function tagIsLost(how: string): Verdict {
  return {
    problem: `answers arrive ${how}: ${LOADED_AGAIN}`,
    fix: {
      nginx: 'proxy_hide_header ETag and sub_filter must not be there',
      haproxy: 'http-response del-header ETag and set-header ETag must not be there',
      caddy: 'header_down ETag and header ETag must not be there',
      apache: 'Header unset ETag and Header set ETag must not be there',
    },
  }
}

/** The entity tag is a hash of the bytes that the gateway sent. Without it, `conditional-requests` finds that. */
async function bytes(outside: Outside): Promise<Verdict> {
  const reply = await outside.document()
  if (!isDocument(reply)) return NO_DOCUMENT
  const { etag } = reply.headers
  // Without its closing quote, because the tag of a coded answer has a suffix.
  if (etag === undefined || etag.includes(entityTag(reply.body).slice(0, -1))) return null
  // A proxy that changes the tag may leave the bytes as they are.
  if ((await askIf(outside, etag)).status !== 304) return null
  return {
    problem: 'the proxy changes the bytes of answers: clients may get other data than is stored',
    fix: {
      nginx: 'sub_filter must not be there',
      haproxy: 'filters that change bodies must not be there',
      caddy: 'replace must not be there',
      apache: 'Substitute must not be there',
    },
  }
}

async function vary({ document }: Outside): Promise<Verdict> {
  const reply = await document()
  if (!isDocument(reply)) return NO_DOCUMENT
  if (/accept-encoding|\*/i.test(reply.headers.vary ?? '')) return null
  return {
    problem:
      'answers arrive without Vary: Accept-Encoding: caches may give a compressed answer to a client that cannot read it',
    fix: {
      nginx: 'proxy_hide_header Vary must not be there',
      haproxy: 'http-response del-header Vary and set-header Vary must not be there',
      caddy: 'header_down Vary and header Vary must not be there',
      apache: 'Header unset Vary and Header set Vary must not be there',
    },
  }
}

async function sharedCache(_first: Seen, outside: Outside): Promise<Verdict> {
  const before = await Promise.all(outside.seen.values())
  // A shared cache looks up the URL and ignores this header. A cached answer may be that of any earlier request.
  const second = await see(outside, { 'x-doctor': 'again' })
  if (!isSeen(second)) return second
  const isKept = before.some((other) => isSeen(other) && other.sighting.nonce === second.sighting.nonce)
  if (!isKept) return mayBeKept(second) ? cacheControlIsLost(second) : null
  return {
    problem: 'the proxy caches answers that say no-store: a user may get the data of another user',
    fix: {
      nginx: 'proxy_cache off;',
      haproxy: 'http-request cache-use must not be there',
      caddy: 'cache must not be there',
      apache: 'CacheDisable /',
    },
  }
}

/** Lines that a proxy adds and the gateway's own arrive as one list. Caches do not agree on what contradictions mean. */
function mayBeKept({ cacheControl }: Seen): boolean {
  return !cacheControl.includes('no-store') || KEEPS.test(cacheControl)
}

function cacheControlIsLost({ cacheControl }: Seen): Verdict {
  return {
    problem: `answers that say no-store arrive with ${cacheControl === '' ? 'no Cache-Control' : `Cache-Control: ${cacheControl}`}: browsers and other caches may keep what a user reads, and show it when it is old or to others`,
    fix: {
      nginx:
        cacheControl === ''
          ? 'proxy_hide_header Cache-Control must not be there'
          : 'expires off; # add_header Cache-Control must not be there',
      haproxy: 'http-response set-header and add-header Cache-Control must not be there',
      caddy: 'header Cache-Control must not be there',
      apache:
        cacheControl === ''
          ? 'Header unset Cache-Control must not be there'
          : 'ExpiresActive Off, and Header … Cache-Control must not be there',
    },
  }
}
