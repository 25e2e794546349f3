// Shows `doctor` how a request looks after the proxies in front. Only a caller that can read the database may ask.
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { FORWARDING_HEADERS } from '../auth/guards/forwarding-headers.ts'
import type { Keyset } from '../auth/tokens/keyset.ts'
import { isProbeToken } from '../auth/tokens/probe-token.ts'
import { GatewayError } from '../errors.ts'
import type { Endpoint } from '../http/handler.ts'
import type { GatewayRequest } from '../http/request.ts'
import { JSON_TYPE, NO_STORE } from '../http/response.ts'

export const PROBE_PATH = '/.well-known/workspace-gateway-probe'
/** Not `Authorization`: `doctor` also checks whether a proxy passes that header on. */
export const PROBE_HEADER = 'workspace-gateway-probe'
/** Milliseconds that the gateway waits before it answers, to reveal a proxy that does not wait so long. */
export const PROBE_DELAY_HEADER = 'workspace-gateway-probe-delay'
export const MAX_PROBE_DELAY_MS = 65_000
/** Milliseconds between the first and the last line of the answer. */
export const PROBE_PAUSE_MS = 400

/** A request as it arrived at this gateway. */
export interface Sighting {
  /** A different value in each answer. */
  readonly nonce: string
  readonly client: { readonly address: string; readonly scheme: string; readonly host: string }
  readonly peer: { readonly address: string; readonly isTrustedProxy: boolean; readonly hasNamedClient: boolean }
  /** The names of proxy headers that the request had. */
  readonly forwardingHeaders: readonly string[]
  readonly acceptEncoding: string
  readonly path: string
  readonly search: string
}

export interface ProbeOptions {
  readonly keyset: Keyset
  /** Milliseconds since the epoch. */
  readonly clock: () => number
}

/** Sends one line at once and another after a pause, to reveal whether a proxy buffers the response. */
export function createProbeEndpoint({ keyset, clock }: ProbeOptions): Endpoint {
  return {
    method: 'GET',
    path: PROBE_PATH,
    async handle(request) {
      const token = request.header(PROBE_HEADER)
      if (token === undefined || !(await isProbeToken(token, keyset, clock()))) throw new GatewayError('NOT_FOUND')
      const delayMs = Number(request.header(PROBE_DELAY_HEADER) ?? 0)
      if (delayMs > 0) await delay(Math.min(delayMs, MAX_PROBE_DELAY_MS))
      const line = `${JSON.stringify(sightingOf(request))}\n`
      return {
        status: 200,
        headers: { 'content-type': JSON_TYPE, ...NO_STORE },
        body: { [Symbol.asyncIterator]: () => inTwoParts(line) },
      }
    },
  }
}

async function* inTwoParts(line: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(line)
  await delay(PROBE_PAUSE_MS)
  yield Buffer.from('\n')
}

function sightingOf({ client, peer, path, search, header }: GatewayRequest): Sighting {
  return {
    nonce: randomUUID(),
    client,
    peer: { address: peer.address, isTrustedProxy: peer.isTrustedProxy, hasNamedClient: peer.hasNamedClient },
    forwardingHeaders: FORWARDING_HEADERS.filter((name) => header(name) !== undefined),
    acceptEncoding: header('accept-encoding') ?? '',
    path,
    search,
  }
}
