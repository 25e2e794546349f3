// Tokens that are none: what servers must refuse.
import { createHmac, randomBytes } from 'node:crypto'
import { jsonOf, memberOf } from '../answer-body.ts'

const A_DAY_SECONDS = 86_400

export const NO_TOKEN = {}
/** Random: nobody was given it. */
export const UNKNOWN_TOKEN = { refreshToken: randomBytes(32).toString('base64url') }

/** The token with the signature of somebody else's key. */
export function withOtherSignature(accessToken: string): string {
  const [head = '', claims = ''] = accessToken.split('.')
  const unsigned = `${head}.${withLongerLife(claims)}`
  return `${unsigned}.${createHmac('sha256', randomBytes(32)).update(unsigned).digest('base64url')}`
}

/** The claims of the token, unsigned (RFC 7519 section 6). */
export function withoutSignature(accessToken: string): string {
  const [head = '', claims = ''] = accessToken.split('.')
  return `${encoded({ ...decoded(head), alg: 'none' })}.${withLongerLife(claims)}.`
}

/** As forgers would: a token that has run out is refused for that, and shows nothing. Claims without an end stay. */
function withLongerLife(claims: string): string {
  const exp = memberOf(decoded(claims), 'exp')
  return typeof exp === 'number' ? encoded({ ...decoded(claims), exp: exp + A_DAY_SECONDS }) : claims
}

function decoded(part: string): object {
  return Object(jsonOf({ body: Buffer.from(part, 'base64url') }))
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url')
}
