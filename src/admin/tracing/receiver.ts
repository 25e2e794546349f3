// Posts traces to the receiver over a keep-alive connection. It uses node:http because fetch takes twice the time for a
// large body.
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { pauseMs, retryAfterMs } from '../../import-export/remote/retry.ts'
import { memberOf } from '../../member-of.ts'
import { responseTo } from '../../response-to.ts'
import { type PartialSuccess, type ReceiverAnswer, readPartialSuccess } from './partial-success.ts'
import type { TraceSettings } from './trace-settings.ts'

/** Status codes after which a client retries (opentelemetry-proto, "OTLP/HTTP", "Retryable Response Codes"). */
const RETRYABLE = new Set([429, 502, 503, 504])

/** More than a receiver has to say about a batch. A longer answer is not read. */
const MAX_ANSWER_BYTES = 65_536

export interface Receiver extends Disposable {
  /**
   * Posts a batch. Retries within the batch's timeout while the receiver is busy or away. Throws unless the receiver
   * accepted it. Returns null when it accepted all of it.
   */
  readonly post: (type: string, body: Uint8Array) => Promise<PartialSuccess | null>
}

type ReceiverSettings = Pick<TraceSettings, 'url' | 'headers' | 'timeoutMs' | 'compression'>

/** The receiver is busy. `retryAfterMs` is the pause that it asks for; null when it does not say. */
class BusyError extends Error {
  readonly retryAfterMs: number | null

  constructor(status: number, retryAfterMs: number | null) {
    super(`the receiver answered ${status}`)
    this.retryAfterMs = retryAfterMs
  }
}

/** Once `ending` is aborted, no retry waits for the receiver: each remaining batch is tried once. */
export function createReceiver(
  { url, headers, timeoutMs, compression }: ReceiverSettings,
  ending: AbortSignal,
): Receiver {
  const { Agent, request } = process.getBuiltinModule(url.startsWith('https:') ? 'node:https' : 'node:http')
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  // Asynchronous: compresses in zlib's thread, not in the thread that handles requests.
  const gzip = promisify(process.getBuiltinModule('node:zlib').gzip)
  const encoding = compression === 'none' ? {} : { 'content-encoding': compression }

  /** Returns null when the receiver has meanwhile closed the keep-alive connection. */
  async function tryPost(type: string, body: Uint8Array, leftMs: number): Promise<ReceiverAnswer | null> {
    const sent = request(url, {
      method: 'POST',
      agent,
      headers: { ...headers, ...encoding, 'content-type': type, 'content-length': body.byteLength },
    })
    let [hasAnswer, isLate] = [false, false]
    // An AbortSignal would cost as much again as the rest of the request.
    const timer = setTimeout(() => {
      isLate = true
      sent.destroy()
    }, leftMs).unref()
    sent.end(body)
    try {
      const response = await responseTo(sent)
      hasAnswer = true
      const { statusCode = 0 } = response
      const answer = await readBody(response)
      if (RETRYABLE.has(statusCode)) {
        const { 'retry-after': retryAfter = null, date = null } = response.headers
        throw new BusyError(statusCode, retryAfterMs({ retryAfter, date }, Date.now()))
      }
      if (statusCode < 200 || statusCode >= 300) throw new Error(`the receiver answered ${statusCode}`)
      return { contentType: response.headers['content-type'], body: answer }
    } catch (error) {
      if (isLate) throw new Error(`no answer in ${timeoutMs} ms`)
      // Once there is an answer, the batch has arrived, even if the connection breaks within the answer.
      if (!hasAnswer && sent.reusedSocket && memberOf(error, 'code') === 'ECONNRESET') return null
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  async function postOnce(type: string, body: Uint8Array, leftMs: number): Promise<ReceiverAnswer> {
    const answer = (await tryPost(type, body, leftMs)) ?? (await tryPost(type, body, leftMs))
    if (answer === null) throw new Error('the receiver closes its connections')
    return answer
  }

  return {
    async post(type, plain) {
      const body = compression === 'gzip' ? await gzip(plain) : plain
      const deadline = performance.now() + timeoutMs
      for (let attempt = 0; ; attempt += 1) {
        try {
          return readPartialSuccess(await postOnce(type, body, deadline - performance.now()))
        } catch (error) {
          if (ending.aborted || !mayRetry(error)) throw error
          const waitMs = pauseMs(error instanceof BusyError ? error.retryAfterMs : null, attempt)
          if (performance.now() + waitMs >= deadline) throw error
          await delay(waitMs, undefined, { signal: ending, ref: false }).catch(() => {})
        }
      }
    },
    [Symbol.dispose]: () => agent.destroy(),
  }
}

/** Reads a response to its end, so that its connection can be used again. Returns nothing of one that is too long. */
async function readBody(response: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  let length = 0
  response.on('data', (part: Buffer) => {
    length += part.byteLength
    if (length <= MAX_ANSWER_BYTES) parts.push(part)
  })
  await once(response, 'end')
  return Buffer.concat(length <= MAX_ANSWER_BYTES ? parts : [])
}

/** System calls that fail before there is a connection. */
const CONNECTING = new Set<unknown>(['connect', 'getaddrinfo'])

/**
 * Whether the receiver was busy, or no connection was made. After a connection broke, the batch may have arrived, so it
 * is not retried.
 */
function mayRetry(error: unknown): boolean {
  // An AggregateError stands for a name with several addresses, none of which accepted the connection.
  if (error instanceof BusyError || error instanceof AggregateError) return true
  return CONNECTING.has(memberOf(error, 'syscall'))
}
