// What the checks from outside share: the way to the gateway, and what the gateway itself sees of a request.
import { z } from 'zod'
import { PROBE_HEADER, PROBE_PATH, type Sighting } from '../../../admin/probe.ts'
import type { Check, NotChecked, Verdict } from '../check.ts'
import type { Ask, Reply, Target } from './client.ts'

export interface Outside {
  readonly target: Target
  readonly ask: Ask
  /** Shows to the gateway that its database can be read here; null where it cannot. */
  readonly probeToken: string | null
  /** By the headers of the request. */
  readonly seen: Map<string, Promise<Seen | NotChecked>>
  /** Of the gateway, without a slash at its end. */
  readonly basePath: string
  /** Of the gateway, in bytes. */
  readonly bodyLimit: number
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

/** What answers at the path of the probe may be something else. */
const SIGHTING: z.ZodType<Sighting> = z.object({
  nonce: z.string(),
  client: z.object({ address: z.string(), scheme: z.string(), host: z.string() }),
  peer: z.object({ address: z.string(), isTrustedProxy: z.boolean(), hasNamedClient: z.boolean() }),
  forwardingHeaders: z.array(z.string()),
  acceptEncoding: z.string(),
  path: z.string(),
  search: z.string(),
})

const WITHOUT_DATABASE: NotChecked = {
  reason: 'only the gateway can tell: run the doctor where it can read the database of the gateway (--database)',
}
const NO_SIGHTING: NotChecked = {
  reason:
    'the gateway did not tell what it sees: it is older than this program, has another database, or the proxy answered in its place',
}

export interface Seen {
  readonly sighting: Sighting
  /** Between the first and the last byte of what the gateway sends in two parts. */
  readonly spanMs: number
  /** The doctor's own address. */
  readonly localAddress: string
}

export function isSeen(result: Seen | NotChecked): result is Seen {
  return 'sighting' in result
}

/** What the gateway saw of a request with these headers; asked once for each. */
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
  if (probeToken === null) return WITHOUT_DATABASE
  const { status, body, spanMs, localAddress } = await send({
    path: PROBE_PATH,
    headers: { [PROBE_HEADER]: probeToken, ...headers },
  })
  const { data: sighting } = SIGHTING.safeParse(jsonOf(body))
  return status === 200 && sighting ? { sighting, spanMs, localAddress } : NO_SIGHTING
}

/** A check of what the gateway saw of one request, with these headers. */
export function checkSeen(
  judge: (seen: Seen, outside: Outside) => Promise<Verdict> | Verdict,
  headers: Readonly<Record<string, string>> = {},
): Check<Outside>['run'] {
  return async (outside) => {
    const seen = await see(outside, headers)
    return isSeen(seen) ? judge(seen, outside) : seen
  }
}

/** The line of each proxy that sets a header to a value of its own language. */
export function setHeader(name: string, value: Readonly<Record<'nginx' | 'haproxy' | 'caddy', string>>) {
  return {
    nginx: `proxy_set_header ${name} ${value.nginx};`,
    haproxy: `http-request set-header ${name} ${value.haproxy}`,
    caddy: `header_up ${name} ${value.caddy}`,
  }
}

/** Whether the gateway wrote the answer, wherever the request arrived. */
export function isOfGateway({ headers }: Reply): boolean {
  return headers['api-version'] !== undefined
}

/** The member of a problem document, empty where the answer is none of the gateway's. */
export function codeOf(body: Buffer): string {
  return memberOf(body, 'code') ?? ''
}

/** A text that the JSON object of an answer has under this name. */
export function memberOf(body: Buffer, name: string): string | undefined {
  const member: unknown = Reflect.get(Object(jsonOf(body)), name)
  return typeof member === 'string' ? member : undefined
}

/** Whether it is an answer of GraphQL that something is wrong. */
export function hasErrors(body: Buffer): boolean {
  return Array.isArray(Reflect.get(Object(jsonOf(body)), 'errors'))
}

/** Null for what is no JSON. */
function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return null
  }
}
