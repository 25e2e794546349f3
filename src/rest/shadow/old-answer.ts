// Sends a request to the old server and adapts its answer.
import { isConnectionEnded } from '../../import-export/remote/retry.ts'
import { limitWait } from '../../limit-wait.ts'
import { type OutgoingRequest, sendRequest } from '../../send-request.ts'

/** Time limit until an answer begins, and for each further chunk of it. */
export const ANSWER_MS = 30_000

export interface OldAnswer {
  readonly status: number
  readonly headers: Headers
  /** Throws when no chunk arrives for `ANSWER_MS`. */
  readonly body: AsyncIterable<Uint8Array>
  /** For a caller that does not read the body. */
  readonly cancel: () => Promise<void>
}

/**
 * Retries once when the connection ends before an answer. A login that ran twice leaves a session on the old server that
 * expires by itself.
 */
export async function sendAgain(url: string, request: OutgoingRequest): Promise<Response> {
  try {
    return await sendRequest(url, request)
  } catch (error) {
    if (request.signal?.aborted || !isConnectionEnded(error)) throw error
    return sendRequest(url, request)
  }
}

/** `giveUp` aborts the request. */
export function toOldAnswer({ status, headers, body }: Response, giveUp: () => void): OldAnswer {
  return {
    status,
    headers,
    body: limitWait(body ?? [], ANSWER_MS, giveUp),
    cancel: async () => body?.cancel().catch(() => {}),
  }
}
