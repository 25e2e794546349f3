// Lets the old server answer reads: clients get its status, its body and the headers that describe them.
import { CLIENT_LEFT, GatewayError } from '../../errors.ts'
import type { GatewayRequest } from '../../http/request.ts'
import { type GatewayResponse, pickHeaders } from '../../http/response.ts'
import type { OldAnswer } from './old-answer.ts'
import { OldAwayError, OldBusyError } from './old-errors.ts'
import type { OldServer } from './old-server.ts'
import type { ShadowReport } from './shadow-report.ts'

const PASSED_HEADERS = ['content-type', 'content-encoding', 'content-length', 'etag', 'last-modified']

const CONDITIONS = ['if-match', 'if-none-match']
/** The statuses of the contract and of conditions. Any other status is about the old server, or is no whole answer. */
const PASSED_STATUSES = new Set([200, 304, 400, 404, 412])

/** Throws `UNAVAILABLE` when the old server has no answer. */
export type PassOn = (request: GatewayRequest, email: string) => Promise<GatewayResponse>

/** At most `maxReads` are in flight: beyond that, clients get 503. */
export function createPassOn(old: OldServer, report: ShadowReport, maxReads = Number.POSITIVE_INFINITY): PassOn {
  let reads = 0

  async function answerTo(request: GatewayRequest, email: string, signal: AbortSignal): Promise<OldAnswer> {
    const { method, path, search, header } = request
    const answer = await old
      .read(email, {
        method: method === 'HEAD' ? 'HEAD' : 'GET',
        target: search === '' ? path : `${path}?${search}`,
        conditions: pickHeaders(CONDITIONS, header),
        signal,
      })
      .catch((error: unknown) => {
        // No failure of either server, so it is not counted as one.
        if (signal.aborted) throw CLIENT_LEFT
        throw error instanceof OldBusyError ? busy(Math.ceil(error.retryAfterMs / 1_000)) : away()
      })
    if (PASSED_STATUSES.has(answer.status)) return answer
    report.failed(new OldAwayError(`${method} ${path} answered ${answer.status}`))
    throw away()
  }

  return async (request, email) => {
    if (reads >= maxReads) throw busy(1)
    reads += 1
    const ended = new AbortController()
    ended.signal.addEventListener('abort', () => {
      reads -= 1
    })
    // The client may disconnect before the old server answers.
    request.onClosed(() => ended.abort())
    try {
      const answer = await answerTo(request, email, ended.signal)
      return toResponse(answer, { [Symbol.dispose]: () => ended.abort() })
    } catch (error) {
      ended.abort()
      throw error
    }
  }
}

/** `held` is disposed of when the whole body is sent, the client disconnects, or there is no room for the body. */
function toResponse({ status, headers, body }: OldAnswer, held: Disposable): GatewayResponse {
  const passed = pickHeaders(PASSED_HEADERS, (name) => headers.get(name))
  return {
    status,
    headers: { ...passed, 'cache-control': 'private, no-cache', vary: 'Authorization' },
    // A stream even for an empty body: it lets the response to HEAD keep the old server's `Content-Length`.
    body: status === 304 ? null : body,
    held,
  }
}

function busy(retryAfterSeconds: number): GatewayError {
  return new GatewayError('UNAVAILABLE', {
    message: 'The old server, which still answers this route, is busy: try again later.',
    retryAfterSeconds,
  })
}

function away(): GatewayError {
  return new GatewayError('UNAVAILABLE', {
    message: 'The old server, which still answers this route, does not answer: try again shortly.',
    retryAfterSeconds: 1,
  })
}
