// Inspects the body of an answer, and describes it for the report.
import { isUtf8 } from 'node:buffer'
import { isJsonMediaType } from '../media-type.ts'
import type { ProbeAnswer } from './exchange.ts'

/** The parsed body; undefined if it is not JSON in UTF-8 (RFC 8259 section 8.1). */
export function jsonOf({ body }: Pick<ProbeAnswer, 'body'>): unknown {
  if (!isUtf8(body)) return undefined
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
}

/** Null if the body is a JSON array in UTF-8. */
export function unlessArray(answer: Pick<ProbeAnswer, 'body'>): string | null {
  if (!isUtf8(answer.body)) return 'the body is not UTF-8'
  const value = jsonOf(answer)
  if (value === undefined) return 'the body is not JSON'
  return Array.isArray(value) ? null : `the body is ${typeOf(value)}`
}

/** Null if the body is sent as JSON: with its media type, and without a byte order mark. */
export function unlessSentAsJson({
  headers,
  hasByteOrderMark,
}: Pick<ProbeAnswer, 'headers' | 'hasByteOrderMark'>): string | null {
  const type = headers['content-type']
  if (type === undefined) return 'there is no Content-Type'
  if (!isJsonMediaType(type)) return `Content-Type is ${type}`
  return hasByteOrderMark ? 'the body begins with a byte order mark (RFC 8259, section 8.1)' : null
}

/** Null if the token is a JWT (RFC 7519 section 3): it has three parts, and the first two are JSON objects. */
export function unlessJwt(token: string): string | null {
  const parts = token.split('.')
  if (parts.length !== 3) return 'the access token does not have three parts'
  const objects = parts.slice(0, 2).map((part) => jsonOf({ body: Buffer.from(part, 'base64url') }))
  return objects.every((value) => typeof value === 'object' && value !== null)
    ? null
    : 'the parts of the access token are not JSON objects'
}

export function typeOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}
