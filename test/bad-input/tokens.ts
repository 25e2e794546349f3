// Tokens that are missing, broken, forged, written in another way or expired, as rows.
import { createHash, createHmac, createPublicKey, generateKeyPairSync, randomUUID } from 'node:crypto'
import type { FailureCode } from '../../src/errors.ts'
import type { Awaitable } from '../../src/store/contract.ts'
import { base64url, type Forge, openForge, respellEnd, signer } from '../support/forgery.ts'
import type { Tokens } from '../support/gateway.ts'
import { ANA, BEN } from '../support/workspaces.ts'
import type { World } from './scenario.ts'

export interface AccessScenario {
  readonly name: string
  readonly code: Extract<FailureCode, 'UNAUTHENTICATED' | 'INVALID_TOKEN'>
  /** The value of `Authorization`; null for none. */
  readonly authorization: (world: World & { readonly forge: Forge }) => Awaitable<string | null>
}

export interface RefreshScenario {
  readonly name: string
  readonly refreshToken: (world: World) => Awaitable<string>
}

const DAY = 86_400

const foreign = generateKeyPairSync('ed25519').privateKey

export const ACCESS_TOKENS: readonly AccessScenario[] = [
  { name: 'no token', code: 'UNAUTHENTICATED', authorization: () => null },
  { name: 'an empty header', code: 'UNAUTHENTICATED', authorization: () => '' },
  {
    name: 'a no-break space before the scheme',
    code: 'UNAUTHENTICATED',
    authorization: ({ ana }) => `\xa0Bearer ${ana.accessToken}`,
  },
  ...['Bearer', 'bearer', 'Bearer '].map(
    (scheme): AccessScenario => ({
      name: `${scheme} and a no-break space behind the token`,
      code: 'INVALID_TOKEN',
      authorization: ({ ana }) => `${scheme} ${ana.accessToken}\xa0`,
    }),
  ),
  {
    name: 'another scheme',
    code: 'UNAUTHENTICATED',
    authorization: () => `Basic ${Buffer.from(`${ANA}:password`).toString('base64')}`,
  },
  {
    name: 'a token without a scheme',
    code: 'UNAUTHENTICATED',
    authorization: ({ ana }) => ana.accessToken,
  },
  {
    name: 'a scheme that only begins like Bearer',
    code: 'UNAUTHENTICATED',
    authorization: ({ ana }) => `Bearers ${ana.accessToken}`,
  },
  ...[
    ['a scheme without a token', 'Bearer'],
    ['a word', 'Bearer letmein'],
    ['two dots', 'Bearer ..'],
    ['three parts that are nothing', 'Bearer a.b.c'],
    ['an email', `Bearer ${ANA}`],
    ['null', 'Bearer null'],
    ['many dots', `Bearer ${'.'.repeat(4_000)}`],
    ['a very long token', `Bearer ${'a'.repeat(8_000)}`],
    ['a header of JSON that is no object', `Bearer ${part('[]')}.${part('{}')}.${part('x')}`],
    ['a header that is not JSON', `Bearer ${part('x')}.${part('{}')}.${part('x')}`],
    ['a header of no algorithm', `Bearer ${part('{}')}.${part('{}')}.${part('x')}`],
  ].map(([name = '', value = '']): AccessScenario => ({ name, code: 'INVALID_TOKEN', authorization: () => value })),
  ...invalid({
    'a token with a character in front': ({ ana }) => `x${ana.accessToken}`,
    'a token with a character after it': ({ ana }) => `${ana.accessToken}A`,
    'a token that lacks its last character': ({ ana }) => ana.accessToken.slice(0, -1),
    'a token with a space in it': ({ ana }) => ana.accessToken.replace('.', ' .'),
    'a token with a tab in it': ({ ana }) => ana.accessToken.replace('.', '\t.'),
    'a token and another word': ({ ana }) => `${ana.accessToken} more`,
    'a token in quotes': ({ ana }) => `"${ana.accessToken}"`,
    'two tokens': ({ ana }) => `${ana.accessToken}, ${ana.accessToken}`,
    'a token of two parts': ({ ana }) => ana.accessToken.split('.').slice(0, 2).join('.'),
    'a token of four parts': ({ ana }) => `${ana.accessToken}.${part('{}')}`,
    'a token of five parts': ({ ana }) => `${ana.accessToken}.${part('{}')}.${part('{}')}`,
    'a token with an empty signature': ({ ana }) => `${ana.accessToken.split('.').slice(0, 2).join('.')}.`,
    'a token with another claim and the old signature': ({ ana, forge }) =>
      [
        ...forge(ana.accessToken, { claims: { sub: BEN } })
          .split('.')
          .slice(0, 2),
        ana.accessToken.split('.')[2],
      ].join('.'),

    'a token of another key under the kid of ours': ({ ana, forge }) =>
      forge(ana.accessToken, { sign: signer(foreign) }),
    'a token of another key under a kid of its own': ({ ana, forge }) =>
      forge(ana.accessToken, { header: { kid: randomUUID() }, sign: signer(foreign) }),
    'a token of another key that brings the key along': ({ ana, forge }) =>
      forge(ana.accessToken, {
        header: { kid: undefined, jwk: createPublicKey(foreign).export({ format: 'jwk' }) },
        sign: signer(foreign),
      }),
    'a token that says where to get its key': ({ ana, forge, gateway }) =>
      forge(ana.accessToken, {
        header: { kid: 'elsewhere', jku: `${gateway.url}/.well-known/jwks.json` },
        sign: signer(foreign),
      }),
    'a token of our key without its kid': ({ ana, forge }) => forge(ana.accessToken, { header: { kid: undefined } }),
    'a token of our key with a kid that is no string': ({ ana, forge }) =>
      forge(ana.accessToken, { header: { kid: 0 } }),
    'a token of our key with a kid that is SQL': ({ ana, forge }) =>
      forge(ana.accessToken, { header: { kid: "' or 1=1 --" } }),

    'alg none without a signature': ({ ana, forge }) =>
      forge(ana.accessToken, { header: { alg: 'none' }, sign: () => new Uint8Array() }),
    'alg None with our signature': ({ ana, forge }) => forge(ana.accessToken, { header: { alg: 'None' } }),
    'our signature under the name of another algorithm of ours': ({ ana, forge }) =>
      forge(ana.accessToken, { header: { alg: 'ES256' } }),
    'no alg': ({ ana, forge }) => forge(ana.accessToken, { header: { alg: undefined } }),
    'an alg that is no string': ({ ana, forge }) => forge(ana.accessToken, { header: { alg: ['EdDSA'] } }),
    'the alg in another case': ({ ana, forge }) => forge(ana.accessToken, { header: { alg: 'eddsa' } }),
    'the algorithm by its other name': ({ ana, forge }) => forge(ana.accessToken, { header: { alg: 'Ed25519' } }),
    'HS256 with the public key as the secret': (world) =>
      withPublicKeyAsSecret(world, (jwk) => Buffer.from(jwk.x, 'base64url')),
    'HS256 with the text of the public key as the secret': (world) =>
      withPublicKeyAsSecret(world, (jwk) => Buffer.from(JSON.stringify(jwk))),
    'HS256 with the PEM of the public key as the secret': (world) =>
      withPublicKeyAsSecret(world, (jwk) =>
        Buffer.from(createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' })),
      ),
    'HS256 with no secret': ({ ana, forge }) =>
      forge(ana.accessToken, { header: { alg: 'HS256' }, sign: hmac(Buffer.alloc(0)) }),
    'a critical header that nobody knows': ({ ana, forge }) =>
      forge(ana.accessToken, { header: { crit: ['x'], x: true } }),
    'a payload that is not encoded': ({ ana, forge }) =>
      forge(ana.accessToken, { header: { crit: ['b64'], b64: false } }),
    'no typ': ({ ana, forge }) => forge(ana.accessToken, { header: { typ: undefined } }),
    'typ JWT': ({ ana, forge }) => forge(ana.accessToken, { header: { typ: 'JWT' } }),
    'a typ that is no string': ({ ana, forge }) => forge(ana.accessToken, { header: { typ: 1 } }),

    'an exp that is over': ({ ana, forge, gateway }) =>
      forge(ana.accessToken, { claims: { exp: seconds(gateway.now()) - 1 } }),
    'an exp that is now': ({ ana, forge, gateway }) =>
      forge(ana.accessToken, { claims: { exp: seconds(gateway.now()) } }),
    'no exp': ({ ana, forge }) => forge(ana.accessToken, { claims: { exp: undefined } }),
    'an exp that is null': ({ ana, forge }) => forge(ana.accessToken, { claims: { exp: null } }),
    'an exp that is a string': ({ ana, forge, gateway }) =>
      forge(ana.accessToken, { claims: { exp: String(seconds(gateway.now()) + 100) } }),
    'an nbf to come': ({ ana, forge, gateway }) =>
      forge(ana.accessToken, { claims: { nbf: seconds(gateway.now()) + 1 } }),
    'no iat': ({ ana, forge }) => forge(ana.accessToken, { claims: { iat: undefined } }),
    'an iat that is a string': ({ ana, forge }) => forge(ana.accessToken, { claims: { iat: '1' } }),
    'another iss': ({ ana, forge }) => forge(ana.accessToken, { claims: { iss: 'workspace-gateway' } }),
    'no iss': ({ ana, forge }) => forge(ana.accessToken, { claims: { iss: undefined } }),
    'another aud': ({ ana, forge }) => forge(ana.accessToken, { claims: { aud: 'workspace-gateway' } }),
    'no aud': ({ ana, forge }) => forge(ana.accessToken, { claims: { aud: undefined } }),
    'an empty list as aud': ({ ana, forge }) => forge(ana.accessToken, { claims: { aud: [] } }),
    'the email of another user': ({ ana, forge }) => forge(ana.accessToken, { claims: { sub: BEN } }),
    'an email in another spelling': ({ ana, forge }) => forge(ana.accessToken, { claims: { sub: ANA.toUpperCase() } }),
    'no sub': ({ ana, forge }) => forge(ana.accessToken, { claims: { sub: undefined } }),
    'no jti': ({ ana, forge }) => forge(ana.accessToken, { claims: { jti: undefined } }),
    'no sid': ({ ana, forge }) => forge(ana.accessToken, { claims: { sid: undefined } }),
    'a sid that is no string': ({ ana, forge }) => forge(ana.accessToken, { claims: { sid: { $ne: null } } }),
    'a session that never was': ({ ana, forge }) => forge(ana.accessToken, { claims: { sid: randomUUID() } }),
    'a session of somebody else': async ({ ana, forge, gateway }) =>
      forge(ana.accessToken, { claims: { sid: claimsOf(await gateway.login(BEN)).sid } }),
    'claims that are a list': ({ ana, forge }) => forge(ana.accessToken, { payload: '[]' }),
    'claims that are null': ({ ana, forge }) => forge(ana.accessToken, { payload: 'null' }),
    'claims that are not JSON': ({ ana, forge }) => forge(ana.accessToken, { payload: 'x' }),
    'no claims at all': ({ ana, forge }) => forge(ana.accessToken, { payload: '' }),

    'a signature with other spare bits': ({ ana }) => respellEnd(ana.accessToken),
    'a signature with padding': ({ ana }) => `${ana.accessToken}==`,
    'a header with padding': ({ ana }) => ana.accessToken.replace('.', '=.'),
    'a signature in the alphabet of base64': ({ ana, forge }) => inOtherAlphabet(ana, forge),
    'every part in base64': ({ ana, forge }) =>
      forge(ana.accessToken, { spell: (bytes) => Buffer.from(bytes).toString('base64') }),
    'every part in hexadecimal': ({ ana, forge }) =>
      forge(ana.accessToken, { spell: (bytes) => Buffer.from(bytes).toString('hex') }),
    'percent-encoded dots': ({ ana }) => ana.accessToken.replaceAll('.', '%2E'),

    'a refresh token': ({ ana }) => ana.refreshToken,
  }),
]

/** Each ends the session of Ana, or lets time pass. */
export const ENDED_ACCESS_TOKENS: readonly AccessScenario[] = invalid({
  'a session that is logged out': async ({ ana, gateway }) => {
    await gateway.send('DELETE', '/logout', JSON.stringify({ refreshToken: ana.refreshToken }))
    return ana.accessToken
  },
  'a session that was deleted by hand': async (world) => {
    await deleteSessions(world)
    return world.ana.accessToken
  },
  'a token that is over': ({ ana, gateway }) => {
    gateway.advance(900)
    return ana.accessToken
  },
  'a token for ever of a session that idled': ({ ana, forge, gateway }) => {
    gateway.advance(14 * DAY)
    return forge(ana.accessToken, { claims: { exp: seconds(gateway.now()) + 100 } })
  },
})

export const REFRESH_TOKENS: readonly RefreshScenario[] = [
  { name: 'a word', refreshToken: () => 'letmein' },
  { name: 'an email', refreshToken: () => ANA },
  { name: 'a very long token', refreshToken: () => 'wgr_'.repeat(2_000) },
  { name: 'a token that was never issued', refreshToken: () => `wgr_${'A'.repeat(51)}` },
  { name: 'a token without a time that was never issued', refreshToken: () => `wgr_${'A'.repeat(43)}` },
  { name: 'another time', refreshToken: ({ ana }) => ana.refreshToken.replace(/^wgr_.{8}/, 'wgr_AAAAAAAA') },
  { name: 'no time', refreshToken: ({ ana }) => ana.refreshToken.replace(/^wgr_.{8}/, 'wgr_') },
  { name: 'an access token', refreshToken: ({ ana }) => ana.accessToken },
  { name: 'another prefix', refreshToken: ({ ana }) => ana.refreshToken.replace('wgr_', 'WGR_') },
  { name: 'no prefix', refreshToken: ({ ana }) => ana.refreshToken.slice(4) },
  { name: 'a space in front', refreshToken: ({ ana }) => ` ${ana.refreshToken}` },
  { name: 'a line break after it', refreshToken: ({ ana }) => `${ana.refreshToken}\n` },
  {
    name: 'a line break in it',
    refreshToken: ({ ana }) => `${ana.refreshToken.slice(0, 20)}\n${ana.refreshToken.slice(20)}`,
  },
  { name: 'padding', refreshToken: ({ ana }) => `${ana.refreshToken}=` },
  { name: 'other spare bits', refreshToken: ({ ana }) => respellEnd(ana.refreshToken) },
  { name: 'one character less', refreshToken: ({ ana }) => ana.refreshToken.slice(0, -1) },
  { name: 'one character more', refreshToken: ({ ana }) => `${ana.refreshToken}A` },
  { name: 'another case', refreshToken: ({ ana }) => swapCase(ana.refreshToken) },
  { name: 'a NUL after it', refreshToken: ({ ana }) => `${ana.refreshToken}\u0000` },
  { name: 'a scheme in front', refreshToken: ({ ana }) => `Bearer ${ana.refreshToken}` },
  {
    name: 'what the database keeps of it',
    refreshToken: ({ ana }) => `${ana.refreshToken.slice(0, 12)}${sha256(ana.refreshToken).toString('base64url')}`,
  },
  {
    name: 'the hash that the database keeps of it',
    refreshToken: ({ ana }) => `wgr_${sha256(ana.refreshToken).toString('base64url')}`,
  },
  {
    name: 'what the database keeps of it, in hexadecimal',
    refreshToken: ({ ana }) => sha256(ana.refreshToken).toString('hex'),
  },
  {
    name: 'the id of the session',
    refreshToken: ({ ana }) => String(claimsOf(ana).sid),
  },
]

/** Each ends the session of Ana, or lets time pass. */
export const ENDED_REFRESH_TOKENS: readonly RefreshScenario[] = [
  {
    name: 'a session that is logged out',
    async refreshToken({ ana, gateway }) {
      await gateway.send('DELETE', '/logout', JSON.stringify({ refreshToken: ana.refreshToken }))
      return ana.refreshToken
    },
  },
  {
    name: 'a session that was deleted by hand',
    async refreshToken(world) {
      await deleteSessions(world)
      return world.ana.refreshToken
    },
  },
  {
    name: 'a session that idled',
    refreshToken({ ana, gateway }) {
      gateway.advance(14 * DAY)
      return ana.refreshToken
    },
  },
  {
    name: 'a session that was used to the end of its days',
    async refreshToken({ ana, gateway }) {
      for (let day = 0; day < 90; day += 10) {
        await gateway.send('POST', '/token', JSON.stringify({ refreshToken: ana.refreshToken }))
        gateway.advance(10 * DAY)
      }
      return ana.refreshToken
    },
  },
]

/** Makes rows that have only a name and the token after `Bearer`. */
function invalid(
  tokens: Readonly<Record<string, (world: World & { readonly forge: Forge }) => Awaitable<string>>>,
): readonly AccessScenario[] {
  return Object.entries(tokens).map(([name, token]) => ({
    name,
    code: 'INVALID_TOKEN',
    authorization: async (world) => `Bearer ${await token(world)}`,
  }))
}

function part(text: string): string {
  return base64url(Buffer.from(text))
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1_000)
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

function hmac(secret: Uint8Array): (input: Buffer) => Uint8Array {
  return (input) => createHmac('sha256', secret).update(input).digest()
}

function claimsOf({ accessToken }: Tokens): { readonly sid: unknown } {
  return JSON.parse(Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString())
}

function swapCase(token: string): string {
  return (
    token.slice(0, 4) +
    token.slice(4).replace(/[a-z]/gi, (letter) => (letter < 'a' ? letter.toLowerCase() : letter.toUpperCase()))
  )
}

/** The classic confusion of RS256 and HS256: an attacker who knows the public key knows the secret. */
async function withPublicKeyAsSecret(
  { ana, forge, gateway }: World & { readonly forge: Forge },
  secret: (jwk: { readonly x: string }) => Uint8Array,
): Promise<string> {
  const [jwk] = (await gateway.get('/.well-known/jwks.json')).json().keys
  return forge(ana.accessToken, { header: { alg: 'HS256' }, sign: hmac(secret(jwk)) })
}

/** Makes tokens until a signature has a character that the two alphabets write differently. */
function inOtherAlphabet({ accessToken }: Tokens, forge: Forge): string {
  for (;;) {
    const [header, claims, signature = ''] = forge(accessToken, { claims: { jti: randomUUID() } }).split('.')
    const other = signature.replaceAll('-', '+').replaceAll('_', '/')
    if (other !== signature) return `${header}.${claims}.${other}`
  }
}

async function deleteSessions({ gateway }: World): Promise<void> {
  const { default: Database } = await import('better-sqlite3')
  const hand = new Database(gateway.databasePath)
  hand.exec('delete from session')
  hand.close()
}

export async function withForge(world: World): Promise<World & { readonly forge: Forge }> {
  return { ...world, forge: await openForge(world.gateway.store) }
}
