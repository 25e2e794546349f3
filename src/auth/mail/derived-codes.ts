// Derives each sign-in code from its pending sign-in and a signing key, so that no code is ever stored.
import { createHmac, hkdfSync, type KeyObject } from 'node:crypto'
import type { Keyset } from '../tokens/keyset.ts'
import { spellCode } from './code-spelling.ts'

/** The HKDF info string (RFC 5869): keys derived for other purposes are independent of this one. */
const PURPOSE = 'workspace-gateway sign-in codes'
const SECRET_BYTES = 32

export interface IssuedCode {
  /** The signing key that the code is derived from. */
  readonly kid: string
  /** Stored instead of the code. A keyed hash, because all 40-bit codes could be tried against a plain one. */
  readonly codeHash: string
}

/** `codeOf` and `hashOf` return null if the signing key was removed: its codes are lost with it. */
export interface DerivedCodes {
  readonly issue: (id: string) => Promise<IssuedCode>
  readonly codeOf: (id: string, kid: string) => Promise<string | null>
  readonly hashOf: (id: string, kid: string, code: string) => Promise<string | null>
}

export function createDerivedCodes(keyset: Pick<Keyset, 'signingKey' | 'keyOf'>): DerivedCodes {
  const secrets = new WeakMap<KeyObject, Buffer>()

  function secretOf(privateKey: KeyObject): Buffer {
    const known = secrets.get(privateKey)
    if (known) return known
    const der = privateKey.export({ type: 'pkcs8', format: 'der' })
    const secret = Buffer.from(hkdfSync('sha256', der, '', PURPOSE, SECRET_BYTES))
    secrets.set(privateKey, secret)
    return secret
  }

  async function secretNamed(kid: string): Promise<Buffer | null> {
    const key = await keyset.keyOf(kid)
    return key && secretOf(key.privateKey)
  }

  return {
    async issue(id) {
      const { kid, privateKey } = await keyset.signingKey()
      const secret = secretOf(privateKey)
      return { kid, codeHash: hashWith(secret, id, codeWith(secret, id)) }
    },
    async codeOf(id, kid) {
      const secret = await secretNamed(kid)
      return secret && codeWith(secret, id)
    },
    async hashOf(id, kid, code) {
      const secret = await secretNamed(kid)
      return secret && hashWith(secret, id, code)
    },
  }
}

function codeWith(secret: Buffer, id: string): string {
  return spellCode(createHmac('sha256', secret).update(`code\n${id}`).digest())
}

function hashWith(secret: Buffer, id: string, code: string): string {
  return createHmac('sha256', secret).update(`hash\n${id}\n${code}`).digest('base64url')
}
