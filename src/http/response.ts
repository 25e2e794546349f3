// A reply as a plain value, and the kinds of replies there are.
import { createHash, type Hash } from 'node:crypto'
import type { FailureCode } from '../errors.ts'

export type Headers = Readonly<Record<string, string>>

/** Made of a reply once it is sent, for the next time. */
export interface Derived {
  /** Names and values in turn, as node:http writes them fastest. */
  headerList?: string[]
  /** The 304 that stands for it. */
  notModified?: GatewayResponse
}

export interface GatewayResponse {
  readonly status: number
  /** By lower-case name. */
  readonly headers: Headers
  /**
   * An iterable is sent as it is produced, and may be gone through more than once; its length is then in the headers, when
   * it is known.
   */
  readonly body: string | Uint8Array | AsyncIterable<Uint8Array> | null
  /** Room for what is made of it, in a reply that may be kept and sent again and again. */
  readonly derived?: Derived
  /** Why it is an answer of nothing but a failure: for who looks on. */
  readonly failureCode?: FailureCode
  /** Of the GraphQL operation that it answers, where that has a name: for who looks on. */
  readonly operationName?: string
  /** What the body holds of the memory for requests in flight: disposed once it is sent, or was given up. */
  readonly held?: Disposable
}

/** The contract's version (its "Versioning"); there is no way to ask for another. */
export const API_VERSION = '1.2'

/** What the edge adds to every reply. */
export const EVERY_RESPONSE: Headers = { 'api-version': API_VERSION, 'x-content-type-options': 'nosniff' }

export const JSON_TYPE = 'application/json; charset=utf-8'

/** For answers that hold tokens (RFC 6749 section 5.1) or change nothing in between. */
export const NO_STORE: Headers = { 'cache-control': 'no-store' }

/** The headers of every GraphQL answer. */
export const GRAPHQL_HEADERS: Headers = { ...NO_STORE, vary: 'Accept, Authorization, Accept-Encoding' }

export function jsonResponse(value: unknown, headers: Headers = {}, status = 200): GatewayResponse {
  return { status, headers: { 'content-type': JSON_TYPE, ...headers }, body: JSON.stringify(value) }
}

export function withHeaders(reply: GatewayResponse, headers: Headers): GatewayResponse {
  const { derived: _, ...rest } = reply
  return { ...rest, headers: { ...reply.headers, ...headers } }
}

/** Those of the names that have a value. */
export function pickHeaders(names: readonly string[], read: (name: string) => string | null | undefined): Headers {
  const picked: Record<string, string> = {}
  for (const name of names) {
    const value = read(name)
    if (value !== null && value !== undefined) picked[name] = value
  }
  return picked
}

/** A strong entity tag (RFC 9110 section 8.8.3): other bytes, another tag. */
export function entityTag(bytes: Uint8Array): string {
  return toEntityTag(createHash('sha256').update(bytes))
}

/** The same of a hash that was made piece by piece. */
export function toEntityTag(hash: Hash): string {
  return `"${hash.digest('base64url')}"`
}
