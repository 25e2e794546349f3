// Reads a request body whole, within a size limit, and answers `100 Continue` to a client that waits for it.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { CLIENT_LEFT, GatewayError } from '../../errors.ts'
import { refusalOfBody } from './client-error.ts'
import { collectBytes } from './collected-bytes.ts'
import { createReceivedBytes } from './received-bytes.ts'
import { expectsContinue, requirePlainBody } from './request-head.ts'

/**
 * Throws `BODY_TOO_LARGE`, `UNSUPPORTED_MEDIA_TYPE`, `UNAVAILABLE`, `REQUEST_TIMEOUT` when the body is too slow, and
 * `BAD_REQUEST` when it breaks off.
 */
export type ReadBody = (
  incoming: IncomingMessage,
  response: ServerResponse,
  clientAddress: string,
  /** Limit for this body, when it is lower than the general limit. */
  limitBytes?: number,
  /** The body counts as being received until this has settled. */
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
        // The code that sends the answer discards the rest of the body, which may take a while.
        incoming.off('data', add)
        collected.drop()
        reject(error)
      }
      const add = (piece: Buffer) => {
        if (collected.byteLength() + piece.byteLength > limitBytes) refuse(tooLarge(limitBytes))
        else if (!collected.add(piece)) refuse(noRoom())
      }
      const breakOff = () => reject(whyBrokenOff(incoming))
      incoming
        .on('data', add)
        .on('end', () => resolve(collected.bytes()))
        .on('error', breakOff)
        // Code that answers before the whole body has arrived may destroy the request, which emits no error. After
        // `end` this has no effect.
        .on('close', breakOff)
    }).finally(() => void (heldUntil ? heldUntil.finally(release) : release()))
  }

  return async (incoming, response, clientAddress, ownLimitBytes = bodyLimitBytes, heldUntil) => {
    const { headers } = incoming
    const limitBytes = Math.min(ownLimitBytes, bodyLimitBytes)
    if (Number(headers['content-length'] ?? 0) > limitBytes) throw tooLarge(limitBytes)
    requirePlainBody(incoming)
    // A destroyed request emits neither an error nor an end.
    if (incoming.destroyed) throw whyBrokenOff(incoming)
    if (expectsContinue(incoming)) response.writeContinue()
    return collect(incoming, clientAddress, limitBytes, heldUntil)
  }
}

/** A client that was refused in the middle of its body already has that answer. */
function whyBrokenOff(incoming: IncomingMessage): GatewayError {
  return refusalOfBody(incoming) ?? CLIENT_LEFT
}

function tooLarge(limitBytes: number): GatewayError {
  return new GatewayError('BODY_TOO_LARGE', { message: `The request body is larger than ${limitBytes} bytes.` })
}

function noRoom(): GatewayError {
  return new GatewayError('UNAVAILABLE', {
    message: 'The gateway has no memory left for another large request: try again shortly.',
    retryAfterSeconds: 1,
  })
}
