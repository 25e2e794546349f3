// Where codes come from: each is derived from its pending sign-in and a signing key, so that none is ever stored.
import { createHmac, hkdfSync, type KeyObject } from 'node:crypto'
import type { Keyset } from '../tokens/keyset.ts'
import { spellCode } from './code-spelling.ts'

/** RFC 5869: keys for other purposes are independent of this one. */
const PURPOSE = 'workspace-gateway sign-in codes'
const SECRET_BYTES = 32

export interface IssuedCode {
  /** The signing key it is derived from. */
  readonly kid: string
  /** For the store. Keyed, since 40 bits alone could be found by trying all of them. */
  readonly codeHash: string
}

/** A signing key that is gone takes its codes with it: null. */
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
