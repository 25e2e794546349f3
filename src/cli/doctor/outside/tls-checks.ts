// Checks TLS in front of the gateway: whether it is used, the certificate, the protocol versions, and the clock.
import type { ConnectionOptions } from 'node:tls'
import type { Check, NotChecked, Verdict } from '../check.ts'
import { hostOf, isLoopback, shakeHands } from './client.ts'
import type { Outside } from './context.ts'

const DAY_MS = 86_400_000
const EXPIRY_DAYS = 14
const CLOCK_MS = 5_000

/** Deprecated versions of TLS (RFC 8996). Node does not offer them by default. */
const OLD_TLS: ConnectionOptions = {
  minVersion: 'TLSv1',
  maxVersion: 'TLSv1.1',
  ciphers: 'DEFAULT@SECLEVEL=0',
}

const WITHOUT_TLS: NotChecked = { reason: 'the address is http' }

export const TLS_CHECKS: readonly Check<Outside>[] = [
  { name: 'tls', run: tls },
  { name: 'tls-certificate', run: certificate },
  { name: 'tls-version', run: version },
  { name: 'clock', run: clock },
]

function tls({ target: { url } }: Outside): Verdict {
  if (url.protocol === 'https:') return null
  if (isLoopback(hostOf(url))) return WITHOUT_TLS
  return {
    problem: 'emails, codes and tokens go over the network unencrypted',
    fix: {
      nginx: 'listen 443 ssl;',
      haproxy: 'bind :443 ssl crt /etc/haproxy/gateway.example.com.pem',
      caddy: `${hostOf(url)} {`,
      apache: 'SSLEngine on',
    },
  }
}

async function certificate({ target, clock: now }: Outside): Promise<Verdict> {
  if (target.url.protocol !== 'https:') return WITHOUT_TLS
  const { problem, expiresAt } = await shakeHands(target)
  const days = Math.floor((expiresAt - now()) / DAY_MS)
  if (problem === null && days >= EXPIRY_DAYS) return null
  return {
    problem:
      problem === null ? `the certificate expires in ${days} days` : `clients refuse the certificate: ${problem}`,
    fix: {
      nginx: 'ssl_certificate /etc/ssl/gateway.example.com.pem;',
      haproxy: 'bind :443 ssl crt /etc/haproxy/gateway.example.com.pem',
      caddy: 'tls /etc/ssl/gateway.example.com.pem /etc/ssl/gateway.example.com.key',
      apache: 'SSLCertificateFile /etc/ssl/gateway.example.com.pem',
    },
  }
}

async function version({ target }: Outside): Promise<Verdict> {
  if (target.url.protocol !== 'https:') return WITHOUT_TLS
  const isSpoken = await shakeHands(target, OLD_TLS).then(
    () => true,
    () => false,
  )
  if (!isSpoken) return null
  return {
    problem: 'the proxy accepts TLS 1.1 or older',
    fix: {
      nginx: 'ssl_protocols TLSv1.2 TLSv1.3;',
      haproxy: 'ssl-min-ver TLSv1.2',
      caddy: 'protocols tls1.2 tls1.3',
      apache: 'SSLProtocol -all +TLSv1.2 +TLSv1.3',
    },
  }
}

async function clock({ ask, clock: now }: Outside): Promise<Verdict> {
  const before = now()
  const { headers } = await ask({ path: '/healthz' })
  const said = Date.parse(headers.date ?? '')
  if (Number.isNaN(said)) return null
  // The header Date has whole seconds.
  const isWithin = said > before - 1_000 - CLOCK_MS && said < now() + CLOCK_MS
  if (isWithin) return null
  return {
    problem: `the clock of the proxy or the gateway and the clock here differ by ${Math.round(Math.abs(said - before) / 1_000)} s: tokens end too early or too late`,
    fix: { run: 'timedatectl set-ntp true' },
  }
}
