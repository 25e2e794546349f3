// Signs assertions by hand, as identity proxies do, and starts a server that publishes the keys.
import { createHmac, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'
import { createServer } from 'node:http'
import { createGate } from './gate.ts'
import { listenForTest } from './listen-for-test.ts'

export interface TestKey {
  readonly kid: string
  readonly alg: 'RS256' | 'ES256' | 'EdDSA' | 'Ed25519'
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

export function newKey(alg: TestKey['alg'] = 'ES256'): TestKey {
  return { kid: randomUUID(), alg, ...newPair(alg) }
}

function newPair(alg: TestKey['alg']): Pick<TestKey, 'privateKey' | 'publicKey'> {
  if (alg === 'ES256') return generateKeyPairSync('ec', { namedCurve: 'P-256' })
  return alg === 'RS256' ? generateKeyPairSync('rsa', { modulusLength: 2048 }) : generateKeyPairSync('ed25519')
}

export const toJwk = ({ kid, alg, publicKey }: TestKey): object => ({
  ...publicKey.export({ format: 'jwk' }),
  kid,
  alg,
  use: 'sig',
})

export const toPem = ({ publicKey }: TestKey): string => String(publicKey.export({ type: 'spki', format: 'pem' }))

export type Json = Readonly<Record<string, unknown>>

export interface Minting {
  /** Merged over `alg`, `kid` and `typ`; undefined removes a member. */
  readonly header?: Json
  readonly claims: Json
  /** AWS load balancers pad every part with `=`. */
  readonly isPadded?: boolean
  /** Replaces the signature that the key would make. */
  readonly sign?: (input: Buffer) => Uint8Array
}

export function mint(key: TestKey, { header = {}, claims, isPadded = false, sign: signWith }: Minting): string {
  const spell = (bytes: Uint8Array) => {
    const text = Buffer.from(bytes).toString('base64url')
    return isPadded ? text.padEnd(Math.ceil(text.length / 4) * 4, '=') : text
  }
  const parts = [{ alg: key.alg, kid: key.kid, typ: 'JWT', ...header }, claims]
  const input = parts.map((part) => spell(Buffer.from(JSON.stringify(part)))).join('.')
  const digest = key.publicKey.asymmetricKeyType === 'ed25519' ? null : 'sha256'
  const signature = signWith ?? ((bytes) => sign(digest, bytes, { key: key.privateKey, dsaEncoding: 'ieee-p1363' }))
  return `${input}.${spell(signature(Buffer.from(input)))}`
}

/** Signs with any text as the shared secret, for instance the public key itself. */
export const hmacWith = (secret: string | Buffer) => (input: Buffer) =>
  createHmac('sha256', secret).update(input).digest()

export interface KeyServer {
  readonly url: string
  /** How many requests the server has received. */
  readonly fetches: () => number
  readonly paths: readonly string[]
  readonly publish: (keys: readonly TestKey[]) => void
  /** Whether every request is answered 503 from now on. */
  readonly fail: (isFailing: boolean) => void
  /** From now on, a request is answered only after the release, with the keys that there were when it arrived. */
  readonly hold: () => () => void
}

/**
 * `/jwks` is the key set, `/.well-known/openid-configuration` the discovery document that points to it, `/pem/KID` a
 * single key. `discoveryAt` makes the document for the URL of this server.
 */
export async function startKeyServer(
  first: readonly TestKey[],
  discoveryAt: (url: string) => object = (url) => ({ issuer: url, jwks_uri: `${url}/jwks` }),
): Promise<KeyServer> {
  let keys = first
  let isFailing = false
  const gate = createGate()
  const paths: string[] = []
  const server = createServer(async (request, response) => {
    const path = request.url ?? ''
    paths.push(path)
    const answer = isFailing ? null : answerTo(path)
    const missing = isFailing ? 503 : 404
    await gate.passed()
    response.writeHead(answer === null ? missing : 200).end(answer ?? '')
  })
  const url = await listenForTest(server)

  function answerTo(path: string): string | null {
    if (path === '/jwks') return JSON.stringify({ keys: keys.map(toJwk) })
    if (path === '/.well-known/openid-configuration') return JSON.stringify(discoveryAt(url))
    const key = keys.find(({ kid }) => path === `/pem/${kid}`)
    return key ? toPem(key) : null
  }

  return {
    url,
    paths,
    fetches: () => paths.length,
    publish(next) {
      keys = next
    },
    fail(next) {
      isFailing = next
    },
    hold: gate.hold,
  }
}
