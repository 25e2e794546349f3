// Sends a request to the old server and adapts its answer.
import { isConnectionEnded } from '../../import-export/remote/retry.ts'
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
  return { status, headers, body: inTime(body, giveUp), cancel: async () => body?.cancel().catch(() => {}) }
}

/** The clock runs only while the consumer waits for the next chunk. */
async function* inTime(body: Response['body'], giveUp: () => void): AsyncGenerator<Uint8Array> {
  if (!body) return
  const parts = body[Symbol.asyncIterator]()
  try {
    for (;;) {
      const timer = setTimeout(giveUp, ANSWER_MS)
      const { done, value } = await parts.next().finally(() => clearTimeout(timer))
      if (done) return
      yield value
    }
  } finally {
    await parts.return?.()
  }
}
