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

type ReceivedBody = Promise<Uint8Array>

export function withAdmission(endpoint: Endpoint, admission: Admission, ownerOf: OwnerOf): Endpoint {
  const { turn, isFree, wait } = admission
  const takeTurn = createTakeTurn(admission, ownerOf)

  /**
   * Begins to receive the body. A client that closes its connection once all is sent, as a page that closes does, would take along what
   * nobody has read. Null where nothing reads the body as a whole, and for a client that waits to be told that the body is wanted.
   */
  function receive(request: GatewayRequest, heldUntil?: Promise<unknown>): ReceivedBody | null {
    const { bodyLimitBytes } = endpoint
    if (bodyLimitBytes === undefined || request.header('expect') !== undefined) return null
    const body = request.body(bodyLimitBytes, heldUntil)
    // Told to whoever asks for it, and of a refused request nobody does.
    body.catch(() => {})
    return body
  }

  /** Otherwise clients that keep back the last byte of many bodies could have them all worked on in one turn. */
  async function bodyInTurn(request: GatewayRequest, received: ReceivedBody | null): Promise<Uint8Array> {
    const begunIn = turn()
    const body = await (received ?? request.body(endpoint.bodyLimitBytes))
    // Mostly it comes with the head.
    if (turn() !== begunIn) await takeTurn(request, 1)
    return body
  }

  function begin(request: GatewayRequest, received: ReceivedBody | null): Promise<GatewayResponse> {
    if (isRead(request)) return endpoint.handle(request)
    return endpoint.handle({ ...request, body: () => bodyInTurn(request, received) })
  }

  async function handleLater(request: GatewayRequest): Promise<GatewayResponse> {
    // What is asked for without being waited for, such as a logout of a page that closes, is done.
    const waiting = wait(ownerOf(request), arrivalOf(request), isRead(request) ? request.onClosed : undefined)
    const received = receive(request, waiting)
    const cameTo = await waiting
    if (cameTo === 'begins') return begin(request, received)
    if (cameTo === 'left') throw LEFT
    if (endpoint.refuse) return endpoint.refuse(OVERLOADED, request)
    throw OVERLOADED
  }

  return {
    ...endpoint,
    handle: (request) => (isFree(arrivalOf(request)) ? begin(request, receive(request)) : handleLater(request)),
  }
}

function arrivalOf({ isFirstOfConnection }: GatewayRequest): Arrival {
  return isFirstOfConnection ? FIRST : NEXT
}

function isRead({ method }: GatewayRequest): boolean {
  return method === 'GET' || method === 'HEAD'
}
