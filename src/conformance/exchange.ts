// Sends one request and returns its answer as received, except that the body is decoded. Follows no redirects and
// caches nothing.
import type { IncomingHttpHeaders, IncomingMessage, RequestOptions } from 'node:http'
import { request as requestTls, Agent as TlsAgent } from 'node:https'
import { BodySizeError, CodingError, decodeBody } from '../decode-body.ts'
import { noAnswerInWords } from '../errors.ts'
import { Agent, request } from '../http-builtin.ts'
import { MAX_VALUES } from '../import-export/format/envelope.ts'
import { createSilenceLimit, readWhole, SilenceError } from '../import-export/remote/answer-limits.ts'
import { JSON_ONLY } from '../import-export/remote/client.ts'
import { isConnectionEnded } from '../import-export/remote/retry.ts'
import { hasMoreValues } from '../json-text.ts'
import { responseTo } from '../response-to.ts'

/** Maximum wait for the beginning of an answer, and for each further 64 KiB. */
const SILENCE_MS = 30_000
/** Maximum size of a body, as received and also decoded. The answers to several reads are kept until the end. */
const MAX_ANSWER_BYTES = 268_435_456
const BYTE_ORDER_MARK = Buffer.from('\ufeff')
const TOO_LARGE = 'the answer is larger than 256 MiB'
const TOO_MANY_VALUES = `the answer has more than ${MAX_VALUES} JSON values`
const TOO_SLOW = 'the answer took too long: 30 s until it began, or for 64 KiB of it'
const NONE = 'there was no answer, or one that broke off'

export interface ProbeRequest {
  readonly method: string
  /** Path with the query, relative to the server's base URL. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** An object is sent as JSON, a string as it is, both with a Content-Length. */
  readonly body?: object | string
}

export interface ProbeAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** The decoded body, without a byte order mark; as received if it cannot be decoded. */
  readonly body: Buffer
  /** Length of the body as received, before decoding. */
  readonly receivedBytes: number
  /** Whether the decoded body begins with a byte order mark. */
  readonly hasByteOrderMark: boolean
}

/** An answer has more JSON values than the heap has room for: parsing it would end the process. */
class ValuesError extends Error {
  override readonly name = 'ValuesError'
}

/** The server did not answer, aborted its answer, did not finish it in time, or sent too much. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
  /** A sentence for the report. */
  readonly found: string

  constructor(message: string, found: string | null, options: ErrorOptions) {
    super(message, options)
    this.found = found ?? NONE
  }
}

export interface Exchange extends Disposable {
  /** Throws `NoAnswerError`, also if `signal` aborts the request. */
  readonly send: (request: ProbeRequest, signal: AbortSignal) => Promise<ProbeAnswer>
}

export function createExchange(baseUrl: string): Exchange {
  const isTls = baseUrl.startsWith('https:')
  const agent = isTls ? new TlsAgent({ keepAlive: true }) : new Agent({ keepAlive: true })

  function start(path: string, options: RequestOptions) {
    return isTls ? requestTls(`${baseUrl}${path}`, options) : request(`${baseUrl}${path}`, options)
  }

  /**
   * Resolves when the answer begins. Sends the request again when it met the end of a connection that was used before:
   * servers close idle connections, perhaps while a request is in flight (RFC 9112 section 9.3.1).
   */
  async function answerTo(path: string, options: RequestOptions, bytes: Buffer | undefined): Promise<IncomingMessage> {
    const outgoing = start(path, options).end(bytes)
    try {
      return await responseTo(outgoing)
    } catch (error) {
      if (outgoing.reusedSocket && isConnectionEnded(error)) return answerTo(path, options, bytes)
      throw error
    }
  }

  return {
    async send({ method, path, headers = {}, body }, stop) {
      const text = typeof body === 'object' ? JSON.stringify(body) : body
      const bytes = text === undefined ? undefined : Buffer.from(text)
      const content = bytes ? { 'content-type': 'application/json', 'content-length': bytes.byteLength } : {}
      const sent = { accept: JSON_ONLY, ...content, ...headers }
      using silence = createSilenceLimit(SILENCE_MS, [stop])
      const { signal } = silence
      try {
        const incoming = await answerTo(path, { agent, method, headers: sent, signal }, bytes)
        silence.isHeard()
        const whole = await readWhole(incoming, MAX_ANSWER_BYTES, silence)
        if (whole === null) throw new BodySizeError(TOO_LARGE)
        const { statusCode: status = 0, headers: received } = incoming
        const decoded = await decodeIfPossible(whole, received['content-encoding'])
        if (hasTooManyValues(decoded)) throw new ValuesError()
        const hasByteOrderMark = decoded.subarray(0, BYTE_ORDER_MARK.byteLength).equals(BYTE_ORDER_MARK)
        const body = hasByteOrderMark ? decoded.subarray(BYTE_ORDER_MARK.byteLength) : decoded
        return { status, headers: received, body, receivedBytes: whole.byteLength, hasByteOrderMark }
      } catch (cause) {
        const found = describeFailure(cause, signal)
        throw new NoAnswerError(`${method} ${baseUrl}${path}: ${found ?? noAnswerInWords(cause)}`, found, { cause })
      }
    },
    [Symbol.dispose]: () => agent.destroy(),
  }
}

/** The decoded body, or the bytes as received if decoding fails: the checks then report that they are not JSON. */
function decodeIfPossible(bytes: Buffer, contentEncoding: string | undefined): Promise<Buffer> {
  return decodeBody(bytes, contentEncoding, MAX_ANSWER_BYTES).catch((error: unknown) => {
    if (error instanceof CodingError) return bytes
    throw error
  })
}

/** In Latin-1, as in UTF-8, each character that JSON's syntax uses is one byte. */
function hasTooManyValues(body: Buffer): boolean {
  // A value takes two bytes at least, and most answers are shorter.
  if (body.byteLength < 2 * MAX_VALUES) return false
  try {
    return hasMoreValues(body.toString('latin1'), MAX_VALUES)
  } catch {
    // Not JSON. The parser fails at the same place, before it has too many values.
    return false
  }
}

/** What was found if the answer was too large or too slow; null if no answer came, or an aborted one. */
function describeFailure(cause: unknown, { reason }: AbortSignal): string | null {
  if (cause instanceof BodySizeError) return TOO_LARGE
  if (cause instanceof ValuesError) return TOO_MANY_VALUES
  return reason instanceof SilenceError ? TOO_SLOW : null
}
