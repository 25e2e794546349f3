// Access tokens as someone would forge them: a real one with parts replaced, signed with this key or that.
// By hand rather than by jose, so that the library which verifies has no say in what can be made.
import { createPrivateKey, type KeyObject, sign } from 'node:crypto'
import type { Store } from '../../src/store/contract.ts'

export interface Forgery {
  /** In place of the real token's; undefined removes one. */
  readonly header?: Readonly<Record<string, unknown>>
  readonly claims?: Readonly<Record<string, unknown>>
  /** In place of all claims, whatever it is. */
  readonly payload?: string
  /** The third part, for the bytes of the first two; by default what the gateway itself would sign. */
  readonly sign?: (input: Buffer) => Uint8Array
  /** How a part is spelled; base64url unless told. */
  readonly spell?: (bytes: Uint8Array) => string
}

export type Forge = (accessToken: string, forgery?: Forgery) => string

/** With the newest signing key of the gateway at hand. */
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

/** The same bytes, the bits after the last of them set: decoders that ignore those read the same token. */
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
