// A response that ended before it was whole: what is told about it, since its status was sent already.
import type { IncomingMessage, ServerResponse } from 'node:http'

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
  /** Set by whoever ends it early. */
  reason: BreakReason | null
  error?: unknown
}

/** Reports when the response closes without having been sent whole. */
export function watchForBreak(incoming: IncomingMessage, response: ServerResponse, report: ReportBrokenOff): Progress {
  const progress: Progress = { sentBytes: 0, reason: null }
  response.once('close', () => {
    if (response.writableFinished) return
    const { reason, sentBytes, error } = progress
    report({
      reason: reason ?? 'left',
      method: incoming.method ?? '',
      path: (incoming.url ?? '').replace(/\?.*/s, ''),
      status: response.statusCode,
      sentBytes,
      ...(error === undefined ? {} : { error }),
    })
  })
  return progress
}
