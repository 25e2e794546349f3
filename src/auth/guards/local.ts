// The default guard: only programs and pages on this very machine may sign in.
import type { Caller } from '../caller.ts'
import { admit, type LoginGuard, pass } from './guard.ts'
import { isLoopbackAddress, isLoopbackHost } from './loopback.ts'

/** A proxy adds one of these: whoever is behind it is not known to be on this machine. */
const FORWARDING_HEADERS = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-forwarded-server',
  'x-client-ip',
  'x-real-ip',
  'cf-connecting-ip',
  'true-client-ip',
]

const JSON_BODY = /^application\/(?:[a-z0-9.+-]*\+)?json\s*(?:;|$)/i

type Check = (caller: Caller) => string | null

/** In the order they are asked. The last three keep out web pages of other sites (CSRF, DNS rebinding). */
function checks(trustedOrigins: readonly string[]): readonly Check[] {
  return [
    (caller) => (isLoopbackAddress(caller.peer.address) ? null : 'the request comes from another machine'),
    (caller) => {
      const header = FORWARDING_HEADERS.find((name) => caller.header(name) !== undefined)
      return header === undefined ? null : `the request came through a proxy (it has a ${header} header)`
    },
    (caller) => (isLoopbackHost(caller.header('host') ?? '') ? null : 'the Host header does not name this machine'),
    (caller) => (JSON_BODY.test(caller.header('content-type') ?? '') ? null : 'the body is not application/json'),
    (caller) => {
      const origin = caller.header('origin')
      if (origin !== undefined)
        return isTrustedOrigin(origin, caller, trustedOrigins)
          ? null
          : 'the request comes from a page of another origin'
      const site = caller.header('sec-fetch-site')
      return site === undefined || site === 'same-origin' || site === 'none'
        ? null
        : 'the request comes from a page of another site'
    },
  ]
}

/** The page's origin is this gateway itself, or one the operator lists. */
function isTrustedOrigin(origin: string, caller: Caller, trustedOrigins: readonly string[]): boolean {
  return trustedOrigins.includes(origin) || origin === `http://${caller.header('host')}`
}

/** `trustedOrigins`: pages of these origins may sign in as if they were this gateway's own. */
export function createLocalGuard({ trustedOrigins }: { readonly trustedOrigins: readonly string[] }): LoginGuard {
  const all = checks(trustedOrigins)
  return {
    name: 'local',
    decide({ caller, email }) {
      for (const check of all) {
        const reason = check(caller)
        if (reason !== null) return pass(reason, null)
      }
      return admit(email)
    },
    chargesLimits: () => false,
  }
}
