// A request's body as a whole, within a bound; a client that waits for `100 Continue` is told to go on.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { GatewayError } from '../../errors.ts'
import { collectBytes } from './collected-bytes.ts'
import { createReceivedBytes } from './received-bytes.ts'
import { expectsContinue, requirePlainBody } from './request-head.ts'

/** Throws `BODY_TOO_LARGE`, `UNSUPPORTED_MEDIA_TYPE`, `UNAVAILABLE`, and `BAD_REQUEST` for one that breaks off. */
/** Nobody is there to read the answer, and nothing went wrong here. */
const BROKE_OFF = new GatewayError('BAD_REQUEST')

export type ReadBody = (
  incoming: IncomingMessage,
  response: ServerResponse,
  clientAddress: string,
  /** Of this body, where it is less than of any. */
  limitBytes?: number,
  /** Until this has settled, it counts as a body that is being received. */
  heldUntil?: Promise<unknown>,
) => Promise<Uint8Array>

export function createBodyReader(bodyLimitBytes: number): ReadBody {
  const receiveFrom = createReceivedBytes(bodyLimitBytes)

  function collect(
    incoming: IncomingMessage,
    clientAddress: string,
    limitBytes: number,
    heldUntil?: Promise<unknown>,
  ): Promise<Uint8Array> {
    const reservation = receiveFrom(clientAddress)
    const release = () => reservation[Symbol.dispose]()
    return new Promise<Uint8Array>((resolve, reject) => {
      const collected = collectBytes(limitBytes, reservation)
      const refuse = (error: GatewayError) => {
        // What still comes is discarded by who answers, which may take a while.
        incoming.off('data', add)
        collected.drop()
        reject(error)
      }
      const add = (piece: Buffer) => {
        if (collected.byteLength() + piece.byteLength > limitBytes) refuse(tooLarge(limitBytes))
        else if (!collected.add(piece)) refuse(noRoom())
      }
      incoming
        .on('data', add)
        .on('end', () => resolve(collected.bytes()))
        .on('error', () => reject(BROKE_OFF))
        // Who answers before it has come whole may destroy it, which is no error. After the end this changes nothing.
        .on('close', () => reject(BROKE_OFF))
    }).finally(() => void (heldUntil ? heldUntil.finally(release) : release()))
  }

  return async (incoming, response, clientAddress, ownLimitBytes = bodyLimitBytes, heldUntil) => {
    const { headers } = incoming
    const limitBytes = Math.min(ownLimitBytes, bodyLimitBytes)
    if (Number(headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes)
    requirePlainBody(incoming)
    // It will tell of no error and no end any more.
    if (incoming.destroyed) throw BROKE_OFF
    if (expectsContinue(incoming)) response.writeContinue()
    return collect(incoming, clientAddress, limitBytes, heldUntil)
  }
}

function tooLarge(limitBytes: number): GatewayError {
  return new GatewayError('BODY_TOO_LARGE', { message: `The request body is larger than ${limitBytes} bytes.` })
}

function noRoom(): GatewayError {
  return new GatewayError('UNAVAILABLE', {
    message: 'The gateway is receiving as much as it has memory for: try again shortly.',
    retryAfterSeconds: 1,
  })
}
