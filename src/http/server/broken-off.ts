// A response that ended before it was whole: what is told about it, since its status was sent already.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/**
 * `stalled`: the client did not take the bytes in time. `left`: the client closed the connection.
 * `failed`: the rest of the body could not be made.
 */
export type BreakReason = 'stalled' | 'left' | 'failed'

export interface BrokenOff {
  readonly reason: BreakReason
  readonly method: string
  /** Without its query, which may hold anything. */
  readonly path: string
  readonly status: number
  /** Of the body, handed to the connection before it ended. */
  readonly sentBytes: number
  /** What went wrong, of a body that `failed`. */
  readonly error?: unknown
}

/** Called once for each response that broke off. */
export type ReportBrokenOff = (event: BrokenOff) => void

/** What is known of a response while it is sent. */
export interface Progress {
  sentBytes: number
  /** Set by the code that ends it early. */
  reason: BreakReason | null
  error?: unknown
}

/** Reports when the response closes without having been sent whole. */
export function watchForBreak(incoming: IncomingMessage, response: ServerResponse, report: ReportBrokenOff): Progress {
  const progress: Progress = { sentBytes: 0, reason: null }
  response.once('close', () => {
    if (!response.writableFinished) report(brokenOff(incoming, response, progress))
  })
  return progress
}

/** Whether nobody is there any more who would take what is left of a response. The socket is known to be gone before the response is. */
export function hasLeft(incoming: IncomingMessage, response: ServerResponse): boolean {
  // node:http takes the socket away from a request that was destroyed, whatever its types say.
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
