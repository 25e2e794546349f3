// Checks that what a proxy limits, in bytes and in time, leaves room for all that the gateway accepts and for the time
// that it may take.
import { MAX_PROBE_DELAY_MS, PROBE_DELAY_HEADER, PROBE_HEADER, PROBE_PATH } from '../../../admin/probe.ts'
import type { Check, NotChecked, Verdict } from '../check.ts'
import { pathBelow } from './client.ts'
import { checkSeen, hasErrors, isOfGateway, type Outside, refusedBy, type Seen, unlessBrokenOff } from './context.ts'
import { byErrors } from './message-checks.ts'

const MIB = 1_048_576
/** Hardly a proxy has a higher limit, and a gateway may accept more than a text can hold. */
const MAX_TRIED_BODY_BYTES = 16 * MIB
/** More than limits that nobody chose for imports, less than those of content delivery networks, which nobody can raise. */
const TRIED_IMPORT_MIB = 64
/** Proxies refuse a size at once. One that accepts it may wait for the body. */
const REFUSED_WITHIN_MS = 3_000
/** What proxies answer to a size. Other failures may be of the body, which does not come. */
const REFUSALS_OF_SIZE: readonly number[] = [403, 413]
/** Time for the answer after the delay that was asked for. */
const ANSWERED_WITHIN_MS = 15_000
/** The default of nginx and Apache. */
const USUAL_TIME_OUT_S = 60

const UNKNOWN_DELAY: NotChecked = { reason: 'the gateway did not wait when asked to: it is older than this program' }

export const LIMIT_CHECKS: readonly Check<Outside>[] = [
  { name: 'body-limit', run: byErrors(bodyLimit) },
  { name: 'import-limit', run: importLimit },
  { name: 'time-out', run: checkSeen(timeOut) },
]

async function bodyLimit({ ask, bodyLimit: limit }: Outside): Promise<Verdict> {
  // A body of exactly the gateway's limit, unless that is very high. It has no query, so the gateway answers with errors.
  const byteLength = Math.min(limit, MAX_TRIED_BODY_BYTES)
  const [start, end] = ['{"query":null,"doctor":"', '"}']
  const body = start + 'x'.repeat(byteLength - start.length - end.length) + end
  const headers = { 'content-type': 'application/json' }
  const reply = await ask({ method: 'POST', path: '/graphql', headers, body }).catch(unlessBrokenOff)
  if (reply && hasErrors(reply.body)) return null
  return {
    problem: `a body of ${byteLength} bytes, which the gateway accepts, is refused in front of it${reply ? ` with ${reply.status}` : ''}`,
    fix: {
      nginx: `client_max_body_size ${Math.ceil(limit / MIB)}m;`,
      haproxy: 'http-request deny if { req.body_size gt … } must not be there',
      caddy: `max_size ${Math.ceil(limit / MIB)}MiB`,
      apache: `SecRequestBodyNoFilesLimit ${limit}`,
    },
  }
}

/**
 * Announces a large import and sends none of it. Without a token the gateway refuses it before the body, with 401. A
 * proxy that counts the bytes as they arrive, such as Caddy, is not found.
 */
async function importLimit({ ask, target }: Outside): Promise<Verdict> {
  const request = { method: 'POST', path: '/import' }
  const empty = await ask(request).catch(unlessBrokenOff)
  // Imports are switched off, or something in front keeps them for other addresses.
  if (!empty || !isOfGateway(empty) || empty.status === 404) return null
  const headers = { 'content-length': String(TRIED_IMPORT_MIB * MIB) }
  const reply = await ask({ ...request, headers, patienceMs: REFUSED_WITHIN_MS }).catch(unlessBrokenOff)
  if (!reply || isOfGateway(reply) || !REFUSALS_OF_SIZE.includes(reply.status)) return null
  return {
    problem: `an import of ${TRIED_IMPORT_MIB} MiB ${refusedBy(reply)}: large files cannot be sent to POST /import`,
    fix: {
      nginx: 'client_max_body_size 0; proxy_request_buffering off;',
      haproxy: `http-request deny if { req.body_size gt … } !{ path ${pathBelow(target.url, '/import')} }`,
      caddy: 'a matcher of Content-Length must not be there for /import',
      apache: 'SecRequestBodyLimit must not be there for /import',
    },
  }
}

/** Lets the gateway answer as late as it may when it waits for its database. */
async function timeOut(_seen: Seen, { ask, probeToken, databaseWaitMs }: Outside): Promise<Verdict> {
  const delayMs = Math.min(databaseWaitMs, MAX_PROBE_DELAY_MS)
  const askedAt = performance.now()
  const reply = await ask({
    path: PROBE_PATH,
    headers: { [PROBE_HEADER]: probeToken ?? '', [PROBE_DELAY_HEADER]: String(delayMs) },
    patienceMs: delayMs + ANSWERED_WITHIN_MS,
  }).catch(unlessBrokenOff)
  // A timer may be early by a millisecond.
  const isDelayed = performance.now() - askedAt >= delayMs - 1
  if (reply && isOfGateway(reply)) return isDelayed ? null : UNKNOWN_DELAY
  const seconds = Math.max(USUAL_TIME_OUT_S, Math.ceil((databaseWaitMs + ANSWERED_WITHIN_MS) / 1_000))
  return {
    problem: `an answer that takes the gateway ${delayMs / 1_000} s, as it may when it waits for the database, ${refusedBy(reply)}: clients do not learn that they can try again, nor what became of the request`,
    fix: {
      nginx: `proxy_read_timeout ${seconds}s;`,
      haproxy: `timeout server ${seconds}s`,
      caddy: `response_header_timeout ${seconds}s`,
      apache: `ProxyTimeout ${seconds}`,
    },
  }
}
