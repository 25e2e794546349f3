// Forges access tokens: takes a real one, replaces parts, and signs the result with any key. It does so by hand rather
// than with jose, so that the verifying library does not limit what can be made.
import { createPrivateKey, type KeyObject, sign } from 'node:crypto'
import type { Store } from '../../src/store/contract.ts'

export interface Forgery {
  /** Merged over the members of the real token; undefined removes a member. */
  readonly header?: Readonly<Record<string, unknown>>
  readonly claims?: Readonly<Record<string, unknown>>
  /** Replaces all claims, whatever it is. */
  readonly payload?: string
  /** Makes the signature of the first two parts; by default the one that the gateway itself would make. */
  readonly sign?: (input: Buffer) => Uint8Array
  /** How a part is encoded; base64url by default. */
  readonly spell?: (bytes: Uint8Array) => string
}

export type Forge = (accessToken: string, forgery?: Forgery) => string

/** Forges with the newest signing key of the gateway. */
export async function openForge(store: Store): Promise<Forge> {
  const [stored] = await store.signingKeys()
  if (!stored) throw new Error('the gateway has no signing key')
  const key = createPrivateKey({ key: JSON.parse(stored.privateJwk), format: 'jwk' })
  return (accessToken, { header, claims, payload, sign: signWith = signer(key), spell = base64url } = {}) => {
    const [realHeader, realClaims] = decode(accessToken)
    const protectedHeader = JSON.stringify({ ...realHeader, ...header })
    const input = [protectedHeader, payload ?? JSON.stringify({ ...realClaims, ...claims })]
      .map((part) => spell(Buffer.from(part)))
      .join('.')
    return `${input}.${spell(signWith(Buffer.from(input)))}`
  }
}

export function signer(key: KeyObject): (input: Buffer) => Uint8Array {
  return (input) => sign(null, input, key)
}

export function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url')
}

/** Sets the unused bits after the last byte: a decoder that ignores them reads the same token. */
export function respellEnd(token: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return `${token.slice(0, -1)}${alphabet[alphabet.indexOf(token.slice(-1)) + 1]}`
}

function decode(token: string): readonly object[] {
  return token
    .split('.')
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString()) as object)
}
