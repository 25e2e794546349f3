// Reports responses that broke off before they were complete, since their status was already sent.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * `stalled`: the client did not take the bytes in time. `left`: the client closed the connection. `failed`: the rest of
 * the body could not be produced.
 */
export type BreakReason = 'stalled' | 'left' | 'failed'

export interface BrokenOff {
  readonly reason: BreakReason
  readonly method: string
  /** Without the query, which may contain anything. */
  readonly path: string
  readonly status: number
  /** Bytes of the body that were handed to the connection before the response ended. */
  readonly sentBytes: number
  /** The error behind `failed`. */
  readonly error?: unknown
}

/** Called once for each response that broke off. */
export type ReportBrokenOff = (event: BrokenOff) => void

/** State of a response while it is being sent. */
export interface Progress {
  sentBytes: number
  /** Set by the code that ends the response early. */
  reason: BreakReason | null
  error?: unknown
}

/** Reports the response if it closes before it was sent completely. */
export function watchForBreak(incoming: IncomingMessage, response: ServerResponse, report: ReportBrokenOff): Progress {
  const progress: Progress = { sentBytes: 0, reason: null }
  response.once('close', () => {
    if (!response.writableFinished) report(brokenOff(incoming, response, progress))
  })
  return progress
}

/**
 * Whether the client is gone and the rest of the response cannot be delivered. The socket is known to be gone before
 * the response is.
 */
export function hasLeft(incoming: IncomingMessage, response: ServerResponse): boolean {
  // node:http sets the socket of a destroyed request to null, although its types do not say so.
  const socket: Socket | null = incoming.socket
  return (response.destroyed || socket === null || socket.destroyed) && !response.writableFinished
}

export function brokenOff(
  { method = '', url = '' }: IncomingMessage,
  { statusCode }: Pick<ServerResponse, 'statusCode'>,
  { reason, sentBytes, error }: Progress,
): BrokenOff {
  return {
    reason: reason ?? 'left',
    method,
    path: url.replace(/\?.*/s, ''),
    status: statusCode,
    sentBytes,
    ...(error === undefined ? {} : { error }),
  }
}
