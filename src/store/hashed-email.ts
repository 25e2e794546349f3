// The hash that stands for an email in the audit log, keyed with the salt of the database.
import { createHmac } from 'node:crypto'

const HASHED = 'hmac-sha256:'
/** Bits kept of the 256: enough that no two of a billion emails collide by accident. */
const HASH_BITS = 128

/** The audit name of an email in the database with this salt: `hmac-sha256:` followed by 32 hexadecimal digits. */
export function hashedEmail(email: string, salt: string): string {
  const digits = createHmac('sha256', salt).update(email).digest('hex')
  return HASHED + digits.slice(0, HASH_BITS / 4)
}

/** Whether the `who` of an audit entry is a clear email, neither empty nor a hash. */
export function isClearEmail(who: string): boolean {
  return who !== '' && !who.startsWith(HASHED)
}

/** `isClearEmail` as a condition in SQL, in the words of the partial index of migration 11, so that it is used. */
export const IS_CLEAR_EMAIL = `who <> '' and substr(who, 1, 12) <> '${HASHED}'`
