// An endpoint that begins work on a request when it is its turn, and goes on when it is again, once its body has come; what would wait
// for too long is refused.
import { GatewayError } from '../../errors.ts'
import type { Endpoint } from '../handler.ts'
import type { GatewayRequest } from '../request.ts'
import type { GatewayResponse } from '../response.ts'
import type { Admission, Arrival } from './admission.ts'
import type { OwnerOf } from './request-owner.ts'
import { createTakeTurn, OVERLOADED } from './take-turn.ts'

const FIRST: Arrival = { places: 1, isFirstOfConnection: true }
const NEXT: Arrival = { places: 1, isFirstOfConnection: false }

/** Nobody is there to read it. */
const LEFT = new GatewayError('BAD_REQUEST')

export function withAdmission(endpoint: Endpoint, admission: Admission, ownerOf: OwnerOf): Endpoint {
  const { turn, isFree, wait } = admission
  const takeTurn = createTakeTurn(admission, ownerOf)

  /** Otherwise clients that keep back the last byte of many bodies could have them all worked on in one turn. */
  async function bodyInTurn(request: GatewayRequest, limitBytes?: number): Promise<Uint8Array> {
    const begunIn = turn()
    const body = await request.body(limitBytes)
    // Mostly it comes with the head.
    if (turn() !== begunIn) await takeTurn(request, 1)
    return body
  }

  function begin(request: GatewayRequest): Promise<GatewayResponse> {
    if (isRead(request)) return endpoint.handle(request)
    return endpoint.handle({ ...request, body: (limitBytes) => bodyInTurn(request, limitBytes) })
  }

  async function handleLater(request: GatewayRequest): Promise<GatewayResponse> {
    // What is asked for without being waited for, such as a logout of a page that closes, is done.
    const cameTo = await wait(ownerOf(request), arrivalOf(request), isRead(request) ? request.onClosed : undefined)
    if (cameTo === 'begins') return begin(request)
    if (cameTo === 'left') throw LEFT
    if (endpoint.refuse) return endpoint.refuse(OVERLOADED, request)
    throw OVERLOADED
  }

  return {
    ...endpoint,
    handle: (request) => (isFree(arrivalOf(request)) ? begin(request) : handleLater(request)),
  }
}

function arrivalOf({ isFirstOfConnection }: GatewayRequest): Arrival {
  return isFirstOfConnection ? FIRST : NEXT
}

function isRead({ method }: GatewayRequest): boolean {
  return method === 'GET' || method === 'HEAD'
}
