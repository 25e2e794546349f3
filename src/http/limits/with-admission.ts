// Wraps an endpoint so that it begins work on a request when it is the request's turn, and continues in another turn
// once the body has arrived. A request that would wait too long is refused.
import { CLIENT_LEFT } from '../../errors.ts'
import type { Endpoint } from '../handler.ts'
import type { GatewayRequest } from '../request.ts'
import type { GatewayResponse } from '../response.ts'
import type { Admission, Arrival } from './admission.ts'
import type { OwnerOf } from './request-owner.ts'
import { createTakeTurn, OVERLOADED } from './take-turn.ts'

const FIRST: Arrival = { places: 1, isFirstOfConnection: true }
const NEXT: Arrival = { places: 1, isFirstOfConnection: false }

type ReceivedBody = Promise<Uint8Array>

export function withAdmission(endpoint: Endpoint, admission: Admission, ownerOf: OwnerOf): Endpoint {
  const { turn, tryBegin, wait } = admission
  const takeTurn = createTakeTurn(admission, ownerOf)

  /**
   * Starts to receive the body while the request waits. Otherwise a client that closes its connection after sending,
   * such as a page that is being closed, would take the unread body with it. Returns null when the endpoint does not
   * read the body whole, and for a client that waits for `100 Continue`.
   */
  function receive(request: GatewayRequest, heldUntil?: Promise<unknown>): ReceivedBody | null {
    const { bodyLimitBytes } = endpoint
    if (bodyLimitBytes === undefined || request.header('expect') !== undefined) return null
    const body = request.body(bodyLimitBytes, heldUntil)
    // The reader of the body sees this rejection, and a refused request has no reader.
    body.catch(() => {})
    return body
  }

  /**
   * Waits for another turn after a late body. Otherwise clients that hold back the last byte of many bodies could have
   * them all processed in one turn.
   */
  async function bodyInTurn(request: GatewayRequest, received: ReceivedBody | null): Promise<Uint8Array> {
    const begunIn = turn()
    const body = await (received ?? request.body(endpoint.bodyLimitBytes))
    // Usually the body arrives together with the head.
    if (turn() !== begunIn) await takeTurn(request, 1)
    return body
  }

  function begin(request: GatewayRequest, received: ReceivedBody | null): Promise<GatewayResponse> {
    if (isRead(request)) return endpoint.handle(request)
    return endpoint.handle({ ...request, body: () => bodyInTurn(request, received) })
  }

  async function handleLater(request: GatewayRequest): Promise<GatewayResponse> {
    // A write continues when its client leaves: some clients do not wait for the answer, such as a page that logs out
    // as it closes.
    const waiting = wait(ownerOf(request), arrivalOf(request), isRead(request) ? request.onClosed : undefined)
    const received = receive(request, waiting)
    const outcome = await waiting
    if (outcome === 'begins') return begin(request, received)
    if (outcome === 'left') throw CLIENT_LEFT
    if (endpoint.refuse) return endpoint.refuse(OVERLOADED, request)
    throw OVERLOADED
  }

  return {
    ...endpoint,
    handle: (request) => (tryBegin(arrivalOf(request)) ? begin(request, receive(request)) : handleLater(request)),
  }
}

function arrivalOf({ isFirstOfConnection }: GatewayRequest): Arrival {
  return isFirstOfConnection ? FIRST : NEXT
}

function isRead({ method }: GatewayRequest): boolean {
  return method === 'GET' || method === 'HEAD'
}
