// Tokens that are none: what servers must refuse.
import { createHmac, randomBytes } from 'node:crypto'
import { jsonOf } from '../answer-body.ts'

export const NO_TOKEN = {}
/** Random: nobody was given it. */
export const UNKNOWN_TOKEN = { refreshToken: randomBytes(32).toString('base64url') }

/** The token with the signature of somebody else's key. */
export function withOtherSignature(accessToken: string): string {
  const unsigned = unsignedPart(accessToken)
  return `${unsigned}.${createHmac('sha256', randomBytes(32)).update(unsigned).digest('base64url')}`
}

/** The claims of the token, unsigned (RFC 7519 section 6). */
export function withoutSignature(accessToken: string): string {
  const [head = '', claims = ''] = accessToken.split('.')
  const header = { ...Object(jsonOf({ body: Buffer.from(head, 'base64url') })), alg: 'none' }
  return `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${claims}.`
}

function unsignedPart(accessToken: string): string {
  return accessToken.split('.').slice(0, 2).join('.')
}
