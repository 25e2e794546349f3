// Takes the configurations printed in docs/operate/behind-a-proxy.md, and fills in the ports and paths of a test.

import { readFileSync } from 'node:fs'
import { type Certificate, createAuthority } from '../../support/certificates.ts'
import { freePort } from '../../support/free-port.ts'
import { type ProxyProgram, startProxy } from '../../support/proxy-process.ts'
import { apacheFrame, nginxFrame } from './configurations.ts'

const PAGE = readFileSync(new URL('../../../docs/operate/behind-a-proxy.md', import.meta.url), 'utf8')
export const NAME = 'gateway.example.com'

/** The code blocks of one language on the page. */
export function blocks(language: string): readonly string[] {
  return [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].flatMap(([, block]) => block ?? [])
}

export interface Documented {
  readonly name: string
  readonly program: ProxyProgram
  readonly block: string
  readonly proxyProtocol?: boolean
  /** Replaces what a test must replace besides the gateway's address: ports, paths, and what Caddy would download. */
  readonly place: (block: string, port: number) => string
}

const placeCertificate = (block: string) =>
  block
    .replace(`/etc/ssl/${NAME}.pem`, 'DIRECTORY/certificate.pem')
    .replace(`/etc/ssl/${NAME}.key`, 'DIRECTORY/key.pem')

const bindHaproxy = (block: string, port: number) =>
  `defaults\n  timeout connect 5s\n  timeout client 30s\n  timeout server 30s\n${block
    .replace('bind :443', `bind 127.0.0.1:${port}`)
    .replace(`/etc/haproxy/${NAME}.pem`, 'DIRECTORY/both.pem')}`

const [nginx = ''] = blocks('nginx')
const [caddy = ''] = blocks('caddyfile')
const [apache = ''] = blocks('apache')
const [haproxy = '', haproxyWithProtocol = ''] = blocks('haproxy')

export const DOCUMENTED: readonly Documented[] = [
  {
    name: 'nginx',
    program: 'nginx',
    block: nginx,
    place: (block, port) => nginxFrame(placeCertificate(block.replace('listen 443', `listen 127.0.0.1:${port}`))),
  },
  {
    name: 'Caddy',
    program: 'caddy',
    block: caddy,
    place: (block, port) =>
      `{\n  admin off\n  auto_https off\n}\n${block.replace(
        `${NAME} {`,
        `https://${NAME}:${port} {\n    bind 127.0.0.1\n    tls DIRECTORY/certificate.pem DIRECTORY/key.pem`,
      )}`,
  },
  { name: 'HAProxy', program: 'haproxy', block: haproxy, place: bindHaproxy },
  {
    name: 'Apache',
    program: 'apache2',
    block: apache,
    place: (block, port) =>
      apacheFrame(`Listen 127.0.0.1:${port}\n${placeCertificate(block.replace('*:443', `*:${port}`))}`),
  },
  {
    name: 'HAProxy with the PROXY protocol',
    program: 'haproxy',
    block: haproxyWithProtocol,
    proxyProtocol: true,
    place: bindHaproxy,
  },
]

/** A certificate for `NAME`, and the authority that signed it. */
export function createCertificates(): Certificate & { readonly ca: string } {
  const authority = createAuthority('a test')
  return { ...authority.sign(NAME, [NAME]), ca: authority.certificate }
}

/** Starts the documented proxy in front of a gateway; `ca` is the authority that signed the proxy's certificate. */
export async function startDocumented(
  { program, block, place }: Documented,
  gatewayUrl: string,
  { certificate, key, ca } = createCertificates(),
): Promise<{ readonly port: number; readonly ca: string }> {
  const port = await freePort('127.0.0.1')
  const placed = place(block, port)
  for (const address of [`:${port}`, '127.0.0.1:4000']) {
    if (!placed.includes(address)) throw new Error(`the configuration on the page lacks ${address}`)
  }
  await startProxy({
    program,
    files: [
      { name: 'proxy.conf', text: placed.replaceAll('127.0.0.1:4000', new URL(gatewayUrl).host) },
      { name: 'certificate.pem', text: certificate },
      { name: 'key.pem', text: key },
      { name: 'both.pem', text: certificate + key },
    ],
    ports: [port],
  })
  return { port, ca }
}
