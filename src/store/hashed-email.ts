// How the audit log names a person without the email: a hash with the salt of the database.
import { createHmac } from 'node:crypto'

const HASHED = 'hmac-sha256:'
/** Of 256: enough that no two of a billion emails share one by accident. */
const HASH_BITS = 128

/** How an email is named in the log of the database with this salt: 32 hexadecimal digits behind `hmac-sha256:`. */
export function hashedEmail(email: string, salt: string): string {
  return `${HASHED}${createHmac('sha256', salt)
    .update(email)
    .digest('hex')
    .slice(0, HASH_BITS / 4)}`
}

/** Whether the name of somebody in an audit entry is the email itself. */
export function isClearEmail(who: string): boolean {
  return who !== '' && !who.startsWith(HASHED)
}
