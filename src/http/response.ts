// The reply as a plain value, with helpers for the common kinds of replies.
import { createHash, type Hash } from 'node:crypto'
import type { FailureCode } from '../errors.ts'

export type Headers = Readonly<Record<string, string>>

/** Values derived from a reply when it is first sent, cached for the next time. */
export interface Derived {
  /** Names and values alternate: the form that node:http writes fastest. */
  headerList?: string[]
  /** The 304 response for this reply. */
  notModified?: GatewayResponse
}

export interface GatewayResponse {
  readonly status: number
  /** Keys are lower-case names. */
  readonly headers: Headers
  /**
   * An iterable is sent as it is produced, and must allow more than one iteration. Its length is in the headers when it
   * is known.
   */
  readonly body: string | Uint8Array | AsyncIterable<Uint8Array> | null
  /** Holds what is derived from a reply that may be cached and sent many times. */
  readonly derived?: Derived
  /** The failure code of an answer that is nothing but a failure, for observers. */
  readonly failureCode?: FailureCode
  /** Name of the answered GraphQL operation, if it has one, for observers. */
  readonly operationName?: string
  /** The body's share of the in-flight memory budget: disposed of once the body is sent or given up. */
  readonly held?: Disposable
}

/** Version of the REST contract (its section "Versioning"). A client cannot ask for another. */
export const API_VERSION = '1.2'

/** Headers that the server adds to every reply. */
export const EVERY_RESPONSE: Headers = { 'api-version': API_VERSION, 'x-content-type-options': 'nosniff' }

export const JSON_TYPE = 'application/json; charset=utf-8'

/** For answers that contain tokens (RFC 6749 section 5.1), and for others that no cache may store. */
export const NO_STORE: Headers = { 'cache-control': 'no-store' }

export function jsonResponse(value: unknown, headers: Headers): GatewayResponse {
  return { status: 200, headers: { 'content-type': JSON_TYPE, ...headers }, body: JSON.stringify(value) }
}

export function withHeaders(reply: GatewayResponse, headers: Headers): GatewayResponse {
  const { derived: _, ...rest } = reply
  return { ...rest, headers: { ...reply.headers, ...headers } }
}

/** Returns those of the names that have a value. */
export function pickHeaders(names: readonly string[], read: (name: string) => string | null | undefined): Headers {
  const picked: Record<string, string> = {}
  for (const name of names) {
    const value = read(name)
    if (value !== null && value !== undefined) picked[name] = value
  }
  return picked
}

/** A strong entity tag (RFC 9110 section 8.8.3): different bytes get a different tag. */
export function entityTag(bytes: Uint8Array): string {
  return toEntityTag(createHash('sha256').update(bytes))
}

/** Returns the entity tag of a hash that was computed incrementally. */
export function toEntityTag(hash: Hash): string {
  return `"${hash.digest('base64url')}"`
}
