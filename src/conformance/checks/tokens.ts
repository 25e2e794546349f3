// Creates invalid tokens, which servers must refuse.
import { createHmac, randomBytes } from 'node:crypto'
import { memberOf } from '../../member-of.ts'
import { jsonOf } from '../answer-body.ts'

const A_DAY_SECONDS = 86_400

export const NO_TOKEN = {}
/** A random refresh token that no server has issued. */
export const UNKNOWN_TOKEN = { refreshToken: randomBytes(32).toString('base64url') }

/** The token with a signature by another key. */
export function withOtherSignature(accessToken: string): string {
  const [head = '', claims = ''] = accessToken.split('.')
  const unsigned = `${head}.${withLongerLife(claims)}`
  return `${unsigned}.${createHmac('sha256', randomBytes(32)).update(unsigned).digest('base64url')}`
}

/** The token with its claims, but unsigned (RFC 7519 section 6). */
export function withoutSignature(accessToken: string): string {
  const [head = '', claims = ''] = accessToken.split('.')
  return `${encoded({ ...decoded(head), alg: 'none' })}.${withLongerLife(claims)}.`
}

/**
 * Moves `exp` into the future, as a forger would: an expired token would be refused for its expiry, which proves
 * nothing about the signature. Claims without `exp` stay unchanged.
 */
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
