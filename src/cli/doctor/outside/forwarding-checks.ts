// Checks what the gateway learns about clients: the proxy must forward it, and a client must not be able to forge it.
import type { Check, Verdict } from '../check.ts'
import { hostOf, isDirect, type Target, unmapped } from './client.ts'
import { checkSeen, isSeen, type Outside, type Seen, see, setHeader } from './context.ts'

/** Reserved for documentation (RFC 5737, RFC 2606), so no real client has this address or host. */
const FORGED_ADDRESS = '203.0.113.77'
const FORGED_HOST = 'forged.example.com'
/** The headers in which a proxy says who the client is. */
const ADDRESS_HEADERS = ['x-forwarded-for', 'forwarded']

export const FORWARDING_CHECKS: readonly Check<Outside>[] = [
  { name: 'client-address', run: checkSeen(clientAddress) },
  { name: 'client-scheme', run: checkSeen(clientScheme) },
  { name: 'client-host', run: checkSeen(clientHost) },
  { name: 'forged-address', run: checkSeen(forgedAddress, { 'x-forwarded-for': FORGED_ADDRESS }) },
  { name: 'dropped-address', run: checkSeen(droppedAddress) },
  { name: 'forged-host', run: checkSeen(forgedHost) },
  { name: 'forged-forwarded', run: checkSeen(forgedForwarded) },
]

const WRITE_ADDRESS = setHeader('X-Forwarded-For', {
  nginx: '$remote_addr',
  haproxy: '%[src]',
  caddy: '{remote_host}',
  apache: 'expr=%{REMOTE_ADDR}',
})
const WRITE_HOST = setHeader('X-Forwarded-Host', {
  nginx: '$host',
  haproxy: '%[req.hdr(host)]',
  caddy: '{host}',
  apache: 'expr=%{HTTP_HOST}',
})

function clientAddress(seen: Seen, { target }: Outside): Verdict {
  const { peer, forwardingHeaders } = seen.sighting
  if (!peer.isTrustedProxy) {
    if (forwardingHeaders.length === 0 && target.url.protocol === 'http:') return null
    return {
      problem: `the gateway takes the proxy at ${peer.address} for the client: all clients share one limit, and sessions and the audit log name the proxy`,
      fix: { gateway: `--trusted-proxy ${peer.address}` },
    }
  }
  if (isClientNamed(seen)) return null
  return unlessOwn(seen, target, {
    problem:
      'the proxy does not say who the client is: all clients share one limit, and sessions and the audit log name the proxy',
    fix: WRITE_ADDRESS,
  })
}

/** Whether a header of the request, or a PROXY header, says who the client is. */
function isClientNamed({ sighting: { peer, forwardingHeaders } }: Seen): boolean {
  return peer.hasNamedClient || ADDRESS_HEADERS.some((name) => forwardingHeaders.includes(name))
}

function clientScheme({ sighting: { peer, client } }: Seen, { target }: Outside): Verdict {
  const scheme = target.url.protocol.slice(0, -1)
  // Without a trusted proxy, `client-address` reports the problem already.
  if (!peer.isTrustedProxy || client.scheme === scheme) return null
  return {
    problem: `the client uses ${scheme}, but the proxy tells the gateway ${client.scheme}`,
    fix: setHeader('X-Forwarded-Proto', { nginx: '$scheme', haproxy: scheme, caddy: '{scheme}', apache: scheme }),
  }
}

function clientHost({ sighting: { client } }: Seen, { target }: Outside): Verdict {
  const asked = hostOf(target.url)
  const told = client.host.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')
  if (told.toLowerCase() === asked.toLowerCase()) return null
  return {
    problem: `the client asks for ${asked}, but the proxy tells the gateway ${told || 'nothing'}: the gateway treats its own pages as pages of another origin`,
    fix: { ...WRITE_HOST, nginx: 'proxy_set_header Host $host;', apache: 'ProxyPreserveHost On' },
  }
}

function forgedAddress(seen: Seen, { target }: Outside): Verdict {
  if (seen.sighting.client.address !== FORGED_ADDRESS) return null
  return unlessOwn(seen, target, {
    problem:
      'a client can forge its address: X-Forwarded-For is passed on as the client wrote it, so limits do not hold',
    fix: WRITE_ADDRESS,
  })
}

/**
 * A proxy drops the headers that `Connection` names (RFC 9110 section 7.6.1). Some do so after they have added their
 * own.
 */
async function droppedAddress(plain: Seen, outside: Outside): Promise<Verdict> {
  // Otherwise `client-address` reports the problem already.
  if (!plain.sighting.peer.isTrustedProxy || !isClientNamed(plain)) return null
  const seen = await see(outside, { connection: ['close', ...ADDRESS_HEADERS].join(', ') })
  if (!isSeen(seen)) return seen
  if (isClientNamed(seen)) return null
  return {
    problem:
      'a client can pass for the proxy: X-Forwarded-For is dropped if the client names it in Connection, so limits do not hold, and sessions and the audit log name the proxy',
    fix: { apache: 'RequestHeader unset Connection' },
  }
}

async function forgedHost(_plain: Seen, outside: Outside): Promise<Verdict> {
  const host = { 'x-forwarded-host': FORGED_HOST }
  // The gateway ignores a forwarded host without a forwarded address. Behind a proxy that sets neither header, a client
  // can send both.
  for (const headers of [host, { 'x-forwarded-for': FORGED_ADDRESS, ...host }]) {
    const seen = await see(outside, headers)
    if (!isSeen(seen)) return seen
    if (seen.sighting.client.host === FORGED_HOST) {
      return unlessOwn(seen, outside.target, {
        problem: 'a client can forge the host: X-Forwarded-Host is passed on as the client wrote it',
        fix: WRITE_HOST,
      })
    }
  }
  return null
}

async function forgedForwarded(plain: Seen, outside: Outside): Promise<Verdict> {
  // Forged with the right address, because the gateway ignores headers that contradict each other.
  const { address } = plain.sighting.client
  const node = address.includes(':') ? `"[${address}]"` : address
  const seen = await see(outside, { forwarded: `for=${node};host=${FORGED_HOST}` })
  if (!isSeen(seen)) return seen
  if (seen.sighting.client.host !== FORGED_HOST) return null
  return unlessOwn(seen, outside.target, {
    problem: 'a client can forge the host and the scheme: Forwarded is passed on as the client wrote it',
    fix: {
      nginx: 'proxy_set_header Forwarded "";',
      haproxy: 'http-request del-header Forwarded',
      caddy: 'header_up -Forwarded',
      apache: 'RequestHeader unset Forwarded',
    },
  })
}

/** The verdict, unless the doctor itself is the trusted peer because no proxy is in between. */
function unlessOwn({ sighting, localAddress }: Seen, target: Target, verdict: Verdict): Verdict {
  const isOwn = isDirect(target) && unmapped(sighting.peer.address) === localAddress
  return isOwn ? { reason: 'there is no proxy in between' } : verdict
}
