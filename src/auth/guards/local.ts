// The default guard: only the operating system user of the gateway may sign in, from the same machine.
import { isJsonMediaType } from '../../media-type.ts'
import type { Caller } from '../caller.ts'
import { createOriginList, type OriginList } from '../origins.ts'
import { FORWARDING_HEADERS } from './forwarding-headers.ts'
import { admit, type LoginGuard, pass } from './guard.ts'
import { isLoopbackAddress, isLoopbackHost } from './loopback.ts'
import type { SocketOwner } from './socket-owner.ts'

const OTHER_GUARD = 'for clients on other machines or behind a proxy, choose another login-guard'
const PLAIN_PROXY =
  'a development proxy must not send that header (Vite: no xfwd; Next sends it with every rewrite, so let the page ask this gateway itself)'
const LIST_ORIGIN =
  'add the origin of that page to the option cors-origin, even if a development proxy such as Vite forwards the request'
const NAME_THIS_MACHINE =
  'use localhost, 127.0.0.1 or [::1] (in a development proxy, set changeOrigin); for any other name, choose another login-guard'

interface Check {
  /** Why the caller is refused; null if this check passes. */
  readonly reason: (caller: Caller) => string | null
  readonly remedy: string
}

export interface LocalGuardOptions {
  /** Pages of these origins may sign in like the gateway's own pages. */
  readonly trustedOrigins: readonly string[]
}

/** `kernel`: finds socket owners, and holds this process's user id; null if the kernel cannot tell. */
export function createLocalGuard(
  { trustedOrigins }: LocalGuardOptions,
  kernel: { readonly socketOwner: SocketOwner; readonly userId: number } | null,
): LoginGuard {
  // Any site can get the origin `null` with a sandboxed frame. `*` is meant for clients that already have a token
  // (`includes` ignores it).
  const origins = createOriginList(trustedOrigins.filter((origin) => origin !== 'null'))
  const checks = requestChecks(origins)
  return {
    name: 'local',
    async decide({ caller, email }) {
      for (const { reason, remedy } of checks) {
        const why = reason(caller)
        if (why !== null) return pass(why, remedy)
      }
      // Checked last, because it is the only expensive check.
      if (kernel !== null && (await kernel.socketOwner(caller.peer)) !== kernel.userId) {
        return pass('the client program, perhaps a proxy, does not run as the same user as this gateway', OTHER_GUARD)
      }
      return admit(email)
    },
  }
}

/**
 * The checks in the order in which they run. The last three keep out web pages of other sites (CSRF, DNS rebinding).
 */
function requestChecks(trustedOrigins: OriginList): readonly Check[] {
  return [
    {
      reason: ({ peer }) => (isLoopbackAddress(peer.address) ? null : 'the request comes from another machine'),
      remedy: OTHER_GUARD,
    },
    {
      reason: ({ peer }) =>
        peer.isTrustedProxy ? 'the request came through a proxy (the option trusted-proxy lists it)' : null,
      remedy: OTHER_GUARD,
    },
    {
      reason: ({ httpVersion }) => (httpVersion === '1.0' ? 'the request is HTTP/1.0, as proxies send' : null),
      remedy: OTHER_GUARD,
    },
    {
      reason(caller) {
        const header = FORWARDING_HEADERS.find((name) => caller.header(name) !== undefined)
        return header === undefined ? null : `the request came through a proxy (it has a ${header} header)`
      },
      remedy: `${OTHER_GUARD}; ${PLAIN_PROXY}`,
    },
    {
      reason: (caller) =>
        isLoopbackHost(caller.header('host') ?? '') ? null : 'the Host header does not name this machine',
      remedy: NAME_THIS_MACHINE,
    },
    {
      reason: (caller) => (isJsonMediaType(caller.header('content-type')) ? null : 'the body is not application/json'),
      remedy: 'send Content-Type: application/json',
    },
    { reason: (caller) => pageReason(caller, trustedOrigins), remedy: LIST_ORIGIN },
  ]
}

function pageReason(caller: Caller, trustedOrigins: OriginList): string | null {
  const origin = caller.header('origin')
  if (origin !== undefined) {
    // Trusted if the origin is this gateway itself, or one that the operator lists.
    const isTrusted = trustedOrigins.includes(origin) || origin === `http://${caller.header('host')}`
    return isTrusted ? null : 'the request comes from a page of another origin'
  }
  const site = caller.header('sec-fetch-site')
  return site === undefined || site === 'same-origin' || site === 'none'
    ? null
    : 'the request comes from a page of another site'
}
