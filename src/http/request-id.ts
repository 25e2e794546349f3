// Determines the id of a request: the one that a trusted proxy sent, or a new one.
import { createIds } from './random-ids.ts'
import type { GatewayRequest } from './request.ts'

export const REQUEST_ID_HEADER = 'x-request-id'

/**
 * Matches the ids that proxies make: UUIDs, hexadecimal numbers, trace ids of clouds. Excludes every character with a
 * meaning in a log or a header.
 */
const WELL_FORMED = /^[\w.~+/=:;@-]{1,128}$/

/** Has as many random bytes as a UUID. Formatting and sending a UUID would cost more than the rest of a log line. */
export const newRequestId = createIds(16)

/** Returns the same id on every call for one request. */
export function requestIdOf(request: GatewayRequest): string {
  const { record } = request
  record.requestId ??= forwardedRequestId(request) ?? newRequestId()
  return record.requestId
}

/**
 * Returns null without the header, and when the peer is not a trusted proxy: a client could otherwise reuse another
 * request's id.
 */
export function forwardedRequestId({ peer, header }: Pick<GatewayRequest, 'peer' | 'header'>): string | null {
  if (!peer.mayForward) return null
  const stated = header(REQUEST_ID_HEADER)
  return stated !== undefined && WELL_FORMED.test(stated) ? stated : null
}
