// Secrets of registered clients: 256 random bits each, of which the gateway stores only a hash.
import { hash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Store } from '../../../store/contract.ts'
import type { StoredClient } from '../../../store/sign-in/client-contract.ts'

const PREFIX = 'wgs_'
const SECRET_BYTES = 32
/** RFC 7617 section 2: user-id and password, separated by a colon, in base64. */
const BASIC = /^Basic +(?<credentials>[A-Za-z0-9+/]{1,1000}={0,2})$/i

/** Allowed client names. They have no colon, because a colon ends the user-id of Basic credentials. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

export interface NewSecret {
  /** Shown to the client once, never stored. */
  readonly secret: string
  /** The hash that is stored. */
  readonly secretHash: string
}

export function createClientSecret(): NewSecret {
  const secret = PREFIX + randomBytes(SECRET_BYTES).toString('base64url')
  return { secret, secretHash: hashOf(secret) }
}

/** Compares in constant time. A fast hash is enough, because nobody can try 2^256 secrets. */
function isSecret(presented: string, secretHash: string): boolean {
  const [a, b] = [Buffer.from(hashOf(presented)), Buffer.from(secretHash)]
  return a.byteLength === b.byteLength && timingSafeEqual(a, b)
}

function hashOf(secret: string): string {
  return hash('sha256', secret, 'base64url')
}

export interface BasicCredentials {
  readonly name: string
  readonly secret: string
}

/** The credentials of an `Authorization` header; null unless it has valid Basic credentials. */
export function readBasicCredentials(authorization: string | undefined): BasicCredentials | null {
  const encoded = BASIC.exec(authorization ?? '')?.groups?.credentials
  if (encoded === undefined) return null
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  return colon === -1 ? null : { name: text.slice(0, colon), secret: text.slice(colon + 1) }
}

export function isClientName(text: string): boolean {
  return NAME.test(text)
}

/**
 * The client with these credentials; null for an unknown name and for a wrong secret, in the same time. A name that no
 * client can have is not looked up.
 */
export async function clientOf(
  store: Pick<Store, 'clientByName'>,
  { name, secret }: BasicCredentials,
): Promise<StoredClient | null> {
  const client = isClientName(name) ? await store.clientByName(name) : null
  return isSecret(secret, client?.secretHash ?? '') ? client : null
}
