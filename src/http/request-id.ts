// The id of a request: what a trusted proxy calls it, or a new one.
import { createIds } from './random-ids.ts'
import type { GatewayRequest } from './request.ts'

export const REQUEST_ID_HEADER = 'x-request-id'

/** What proxies make: UUIDs, hexadecimal numbers, trace ids of clouds. Nothing that means something in a log or a header. */
const WELL_FORMED = /^[\w.~+/=:;@-]{1,128}$/

/** As much of it as a UUID has. Putting that together, and sending it, would cost more than the rest of a line of the log. */
export const newRequestId = createIds(16)

/** The same one each time. */
export function requestIdOf(request: GatewayRequest): string {
  const { record } = request
  record.requestId ??= forwardedRequestId(request) ?? newRequestId()
  return record.requestId
}

/** Null without one, and from a peer that is no trusted proxy: a client could name another's request. */
export function forwardedRequestId({ peer, header }: Pick<GatewayRequest, 'peer' | 'header'>): string | null {
  if (!peer.mayForward) return null
  const stated = header(REQUEST_ID_HEADER)
  return stated !== undefined && WELL_FORMED.test(stated) ? stated : null
}
