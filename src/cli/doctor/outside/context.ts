// Provides what the checks from outside share: the client, the gateway's own view of a request, and readers of its
// answers.
import { z } from 'zod'
import { PROBE_HEADER, PROBE_PATH, type Sighting } from '../../../admin/probe.ts'
import { memberOf } from '../../../member-of.ts'
import type { Awaitable } from '../../../store/contract.ts'
import type { Check, Fix, NotChecked, Verdict } from '../check.ts'
import { AnswerError } from './answer-error.ts'
import type { Ask, Reply, Target } from './client.ts'

export interface Outside {
  readonly target: Target
  readonly ask: Ask
  /** Proves to the gateway that the doctor can read its database; null when the doctor cannot. */
  readonly probeToken: string | null
  /** Cached answers of `see`, by the headers of the request as JSON. */
  readonly seen: Map<string, Promise<Seen | NotChecked>>
  /** The answer to `DOCUMENT`, which is requested once. */
  readonly document: () => Awaitable<Reply>
  /** The answer to `GET /projects` without a token: the checks of errors share it. */
  readonly unauthenticated: () => Awaitable<Reply>
  /** Base path of the gateway, without a trailing slash. */
  readonly basePath: string
  /** Body limit of the gateway, in bytes. */
  readonly bodyLimit: number
  /** Milliseconds that a request may wait for the database before the gateway answers 503. */
  readonly databaseWaitMs: number
  /** Origins whose pages may use the gateway, as `normalOrigin` writes them. */
  readonly corsOrigins: readonly string[]
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

/**
 * The request for a document that has no user's data but an entity tag, as the reads of users have. The gateway sends it
 * uncoded, as it does short reads, but a proxy may compress it.
 */
export const DOCUMENT = { path: '/openapi.json', headers: { 'accept-encoding': 'identity, gzip;q=0.5' } }

/** Validates the answer at the probe path: another program may have written it. */
const SIGHTING: z.ZodType<Sighting> = z.object({
  nonce: z.string(),
  client: z.object({ address: z.string(), scheme: z.string(), host: z.string() }),
  peer: z.object({ address: z.string(), isTrustedProxy: z.boolean(), hasNamedClient: z.boolean() }),
  forwardingHeaders: z.array(z.string()),
  acceptEncoding: z.string(),
  path: z.string(),
  search: z.string(),
})

/** The reference in the query of each request to the probe path. It has what proxies change: upper case and codings. */
export const PROBE_REF = 'A/b&c'

const WITHOUT_KEYS: NotChecked = {
  reason:
    'only the gateway can tell: run the doctor where it can read the database of the gateway (--database) and use its signing keys (--key-encryption-key-file, if they are encrypted)',
}
const NO_SIGHTING: NotChecked = {
  reason:
    'the gateway did not report what it received: it is older than this program, has another database, or the proxy answered in its place',
}

export interface Seen {
  readonly sighting: Sighting
  /**
   * Milliseconds between the first and the last byte. The gateway sends this answer in two parts with a pause between.
   */
  readonly spanMs: number
  /** The doctor's source address. */
  readonly localAddress: string
  /** The header Cache-Control as it arrived, '' without one. The gateway sends `no-store`. */
  readonly cacheControl: string
}

export function isSeen(result: Seen | NotChecked): result is Seen {
  return 'sighting' in result
}

/** What the gateway saw of a request with these headers. Each set of headers is requested once. */
export function see(outside: Outside, headers: Readonly<Record<string, string>> = {}): Promise<Seen | NotChecked> {
  const key = JSON.stringify(headers)
  const known = outside.seen.get(key)
  if (known) return known
  const asked = ask(outside, headers)
  outside.seen.set(key, asked)
  return asked
}

async function ask(
  { ask: send, probeToken }: Outside,
  headers: Readonly<Record<string, string>>,
): Promise<Seen | NotChecked> {
  if (probeToken === null) return WITHOUT_KEYS
  const {
    status,
    headers: received,
    body,
    spanMs,
    localAddress,
  } = await send({
    path: `${PROBE_PATH}?r=${encodeURIComponent(PROBE_REF)}`,
    headers: { [PROBE_HEADER]: probeToken, ...headers },
  })
  const { data: sighting } = SIGHTING.safeParse(jsonOf(body))
  if (status !== 200 || !sighting) return NO_SIGHTING
  return { sighting, spanMs, localAddress, cacheControl: received['cache-control'] ?? '' }
}

/** Makes a check that judges what the gateway saw of a request with these headers. */
export function checkSeen(
  judge: (seen: Seen, outside: Outside) => Promise<Verdict> | Verdict,
  headers: Readonly<Record<string, string>> = {},
): Check<Outside>['run'] {
  return async (outside) => {
    const seen = await see(outside, headers)
    return isSeen(seen) ? judge(seen, outside) : seen
  }
}

/**
 * For each proxy, the configuration line that sets a header. `value` holds the expression in the language of each
 * proxy.
 */
export function setHeader(name: string, value: Readonly<Record<'nginx' | 'haproxy' | 'caddy' | 'apache', string>>) {
  return {
    nginx: `proxy_set_header ${name} ${value.nginx};`,
    haproxy: `http-request set-header ${name} ${value.haproxy}`,
    caddy: `header_up ${name} ${value.caddy}`,
    apache: `RequestHeader set ${name} ${value.apache}`,
  }
}

/** For each proxy, the configuration line that forwards a header of the client. */
export function passHeader(name: string) {
  return {
    nginx: `proxy_set_header ${name} $http_${name.toLowerCase().replaceAll('-', '_')};`,
    haproxy: `http-request del-header ${name} must not be there`,
    caddy: `header_up ${name} {http.request.header.${name}}`,
    apache: `RequestHeader unset ${name} must not be there`,
  }
}

/**
 * For each proxy, the line that lets all methods of the gateway through and no others. nginx and Apache let HEAD through
 * with GET.
 */
export const ALLOW_METHODS: Fix = {
  nginx: 'limit_except GET POST DELETE OPTIONS { deny all; } # in place of if ($request_method …)',
  haproxy: 'http-request deny if !{ method GET HEAD POST DELETE OPTIONS }',
  caddy: '@refused not method GET HEAD POST DELETE OPTIONS',
  apache: 'AllowMethods GET POST DELETE OPTIONS',
}

/** A proxy that refuses a request may break the connection. An answer that cannot be read says nothing. */
export function unlessBrokenOff(error: unknown): null {
  if (error instanceof AnswerError) throw error
  return null
}

/** The end of a sentence about a request that does not reach the gateway. Null stands for a broken connection. */
export function refusedBy(reply: Reply | null): string {
  return `is ${reply ? `answered ${reply.status}` : 'broken off'} by something in front of the gateway`
}

/** HTTP 503 is what nginx answers by default to a client that sends too many requests. */
const [TOO_MANY_REQUESTS, UNAVAILABLE] = [429, 503]

/** Makes a refusal of too many requests an error: checks would take it for an answer to what they ask. */
export function unlessLimited(ask: Ask): Ask {
  return async (question) => {
    const reply = await ask(question)
    if (reply.status === TOO_MANY_REQUESTS || (reply.status === UNAVAILABLE && !isOfGateway(reply))) {
      throw new AnswerError(
        `something answers ${reply.status}, as it does to a client that sends too many requests: allow more at once from here, and run the doctor again`,
      )
    }
    return reply
  }
}

/** Whether the gateway wrote the answer, under whatever path the request arrived. */
export function isOfGateway({ headers }: Reply): boolean {
  return headers['api-version'] !== undefined
}

/** The `code` of a problem document (RFC 9457), or '' when the body is not a problem document of the gateway. */
export function codeOf(body: Buffer): string {
  return textMember(body, 'code') ?? ''
}

/** The string member `name` of the JSON object in the body, or undefined. */
export function textMember(body: Buffer, name: string): string | undefined {
  const member: unknown = memberOf(jsonOf(body), name)
  return typeof member === 'string' ? member : undefined
}

/** Whether the body is a GraphQL response with errors. */
export function hasErrors(body: Buffer): boolean {
  return Array.isArray(memberOf(jsonOf(body), 'errors'))
}

/** Null when the body is not JSON. */
function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return null
  }
}
