// Encrypts private signing keys for storage, with a secret that is not in the database. Without a secret they are
// stored in clear.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/**
 * `wgk1.IV.CIPHERTEXT.TAG` in base64url: AES-256-GCM, with the kid as additional data, so that a text fits only its own
 * key.
 */
const VERSION = 'wgk1'
const ALGORITHM = 'aes-256-gcm'
const IV_BYTES = 12
const SECRET_BYTES = 32

const UNREADABLE = {
  noSecret: 'is encrypted, but no key to decrypt it is given',
  otherSecret: 'is encrypted with another key than the one that is given',
  damaged: 'is damaged, or has a format that this program does not know',
} as const

/** A stored private key cannot be read. The error contains no part of the key. */
export class KeyUnreadableError extends Error {
  override readonly name = 'KeyUnreadableError'
  readonly kid: string
  readonly reason: keyof typeof UNREADABLE

  constructor(kid: string, reason: keyof typeof UNREADABLE) {
    super(`the signing key ${kid} ${UNREADABLE[reason]}`)
    this.kid = kid
    this.reason = reason
  }
}

export interface KeyCipher {
  /** The text to store for a private key. */
  readonly seal: (kid: string, privateJwk: string) => string
  /** The private key from a stored text, whether in clear or encrypted. Throws `KeyUnreadableError`. */
  readonly open: (kid: string, stored: string) => string
  /**
   * Whether the text is stored as `seal` would store it today: encrypted with the first secret, or in clear without
   * one.
   */
  readonly isCurrent: (kid: string, stored: string) => boolean
  readonly hasSecret: boolean
}

/** The first secret encrypts; all of them decrypt. Without secrets, keys are stored in clear. */
export function createKeyCipher(secrets: readonly Uint8Array[]): KeyCipher {
  const [first] = secrets
  return {
    hasSecret: first !== undefined,
    seal: (kid, privateJwk) => (first === undefined ? privateJwk : encrypt(kid, privateJwk, first)),
    open(kid, stored) {
      if (!isSealed(stored)) return stored
      for (const secret of secrets) {
        const opened = decrypt(kid, stored, secret)
        if (opened !== null) return opened
      }
      throw new KeyUnreadableError(kid, first === undefined ? 'noSecret' : 'otherSecret')
    },
    isCurrent(kid, stored) {
      if (first === undefined) return !isSealed(stored)
      return isSealed(stored) && decrypt(kid, stored, first) !== null
    },
  }
}

export function isSealed(stored: string): boolean {
  return stored.startsWith(`${VERSION}.`)
}

/** Reads 32 bytes in hexadecimal, base64 or base64url; null for anything else. */
export function readSecret(text: string): Uint8Array | null {
  const trimmed = text.trim()
  const bytes = /^[0-9a-f]{64}$/i.test(trimmed)
    ? Buffer.from(trimmed, 'hex')
    : /^[A-Za-z0-9+/_-]{43}=?$/.test(trimmed)
      ? Buffer.from(trimmed, 'base64')
      : null
  return bytes?.byteLength === SECRET_BYTES ? bytes : null
}

function encrypt(kid: string, privateJwk: string, secret: Uint8Array): string {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(ALGORITHM, secret, iv).setAAD(Buffer.from(kid))
  const ciphertext = Buffer.concat([cipher.update(privateJwk, 'utf8'), cipher.final()])
  return [VERSION, ...[iv, ciphertext, cipher.getAuthTag()].map((part) => part.toString('base64url'))].join('.')
}

/** Null unless the text was encrypted with this secret for this kid, and not changed since. */
function decrypt(kid: string, stored: string, secret: Uint8Array): string | null {
  const [iv, ciphertext, tag] = stored
    .split('.')
    .slice(1)
    .map((part) => Buffer.from(part, 'base64url'))
  if (!iv || !ciphertext || !tag) return null
  try {
    const decipher = createDecipheriv(ALGORITHM, secret, iv, { authTagLength: 16 })
    decipher.setAAD(Buffer.from(kid)).setAuthTag(tag)
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString('utf8')
  } catch {
    return null
  }
}
