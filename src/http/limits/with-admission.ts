// An endpoint that begins work on a request when it is its turn, and goes on when it is again, once its body has come; what would wait
// for too long is refused.
import { GatewayError } from '../../errors.ts'
import type { Endpoint } from '../handler.ts'
import type { GatewayRequest } from '../request.ts'
import type { GatewayResponse } from '../response.ts'
import type { Admission } from './admission.ts'
import type { OwnerOf } from './request-owner.ts'

/** One for all: with more requests than can be answered, each stack would cost as much as the refusal. */
const OVERLOADED = new GatewayError('UNAVAILABLE', { retryAfterSeconds: 1 })

/** Nobody is there to read it. */
const LEFT = new GatewayError('BAD_REQUEST')

export function withAdmission(endpoint: Endpoint, { turn, isFree, wait }: Admission, ownerOf: OwnerOf): Endpoint {
  /** Otherwise clients that keep back the last byte of many bodies could have them all worked on in one turn. */
  async function bodyInTurn(request: GatewayRequest, limitBytes?: number): Promise<Uint8Array> {
    const begunIn = turn()
    const body = await request.body(limitBytes)
    // Mostly it comes with the head.
    if (turn() === begunIn || isFree(false) || (await wait(ownerOf(request), false)) === 'begins') return body
    throw OVERLOADED
  }

  function begin(request: GatewayRequest): Promise<GatewayResponse> {
    if (isRead(request)) return endpoint.handle(request)
    return endpoint.handle({ ...request, body: (limitBytes) => bodyInTurn(request, limitBytes) })
  }

  async function handleLater(request: GatewayRequest): Promise<GatewayResponse> {
    const { isFirstOfConnection, onClosed } = request
    // What is asked for without being waited for, such as a logout of a page that closes, is done.
    const cameTo = await wait(ownerOf(request), isFirstOfConnection, isRead(request) ? onClosed : undefined)
    if (cameTo === 'begins') return begin(request)
    if (cameTo === 'left') throw LEFT
    if (endpoint.refuse) return endpoint.refuse(OVERLOADED, request)
    throw OVERLOADED
  }

  return {
    ...endpoint,
    handle: (request) => (isFree(request.isFirstOfConnection) ? begin(request) : handleLater(request)),
  }
}

function isRead({ method }: GatewayRequest): boolean {
  return method === 'GET' || method === 'HEAD'
}
