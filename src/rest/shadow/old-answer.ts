// Sends a request to the old server and adapts its answer.
import { isConnectionEnded } from '../../import-export/remote/retry.ts'

/** Time limit until an answer begins, and for each further chunk of it. */
export const ANSWER_MS = 30_000

/** Content codings that `fetch` decodes. */
const DECODED_BY_FETCH = new Set(['', 'gzip', 'x-gzip', 'deflate', 'br', 'zstd'])

export interface OldAnswer {
  readonly status: number
  /** The headers that match `body`: without a content coding that `fetch` decoded, and without the coded length. */
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
export async function fetchAgain(url: string, init: RequestInit & { readonly signal: AbortSignal }): Promise<Response> {
  try {
    return await fetch(url, init)
  } catch (error) {
    if (init.signal.aborted || !isConnectionEnded(error)) throw error
    return fetch(url, init)
  }
}

/** `giveUp` aborts the request. */
export function toOldAnswer(response: Response, giveUp: () => void): OldAnswer {
  const headers = new Headers(response.headers)
  const codings = (headers.get('content-encoding') ?? '').toLowerCase().split(',')
  if (headers.has('content-encoding') && codings.every((coding) => DECODED_BY_FETCH.has(coding.trim()))) {
    for (const name of ['content-encoding', 'content-length']) headers.delete(name)
  }
  return {
    status: response.status,
    headers,
    body: inTime(response.body, giveUp),
    cancel: async () => response.body?.cancel().catch(() => {}),
  }
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
