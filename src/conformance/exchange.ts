// One request and its answer as they are on the wire, but for the coding of the body: nothing is followed or kept.
import { Agent, type IncomingHttpHeaders, type IncomingMessage, type RequestOptions, request } from 'node:http'
import { request as requestTls, Agent as TlsAgent } from 'node:https'
import { BodySizeError, CodingError, decodeBody } from '../decode-body.ts'
import { noAnswerInWords } from '../errors.ts'
import { createSilenceLimit, readWhole, SilenceError } from '../import-export/remote/answer-limits.ts'

/** Until an answer begins, and for each further 64 KiB. */
const SILENCE_MS = 30_000
/** Of a body, without its coding too: the answers to several reads are kept until the end. */
const MAX_ANSWER_BYTES = 268_435_456
const TOO_LARGE = 'the answer is larger than 256 MiB'
const TOO_SLOW = 'the answer took too long: 30 s until it began, or for 64 KiB of it'
const NONE = 'there was no answer, or one that broke off'

export interface ProbeRequest {
  readonly method: string
  /** With its query, behind the server's address. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON with its length; text as it is. */
  readonly body?: object | string
}

export interface ProbeAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Without the coding that the headers may name; as it came where that cannot be taken off. */
  readonly body: Buffer
}

/** The server did not answer, broke its answer off, or did not come to the end of it. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
  /** In a report: a sentence. */
  readonly found: string

  constructor(message: string, found: string | null, options: ErrorOptions) {
    super(message, options)
    this.found = found ?? NONE
  }
}

export interface Exchange extends Disposable {
  /** Throws `NoAnswerError`, also when `signal` breaks it off. */
  readonly send: (request: ProbeRequest, signal: AbortSignal) => Promise<ProbeAnswer>
}

export function createExchange(baseUrl: string): Exchange {
  const isTls = baseUrl.startsWith('https:')
  const agent = isTls ? new TlsAgent({ keepAlive: true }) : new Agent({ keepAlive: true })

  function start(path: string, options: RequestOptions) {
    return isTls ? requestTls(`${baseUrl}${path}`, options) : request(`${baseUrl}${path}`, options)
  }

  /** Until the answer begins. */
  function answerTo(path: string, options: RequestOptions, bytes: Buffer | undefined): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    const outgoing = start(path, options)
    outgoing.on('error', reject)
    outgoing.on('response', resolve)
    outgoing.end(bytes)
    return promise
  }

  return {
    async send({ method, path, headers = {}, body }, stop) {
      const text = typeof body === 'object' ? JSON.stringify(body) : body
      const bytes = text === undefined ? undefined : Buffer.from(text)
      const content = bytes ? { 'content-type': 'application/json', 'content-length': bytes.byteLength } : {}
      const sent = { accept: 'application/json', ...content, ...headers }
      using silence = createSilenceLimit(SILENCE_MS, [stop])
      const { signal } = silence
      try {
        const incoming = await answerTo(path, { agent, method, headers: sent, signal }, bytes)
        silence.isHeard()
        const whole = await readWhole(incoming, MAX_ANSWER_BYTES, silence)
        if (whole === null) throw new BodySizeError(TOO_LARGE)
        const { statusCode: status = 0, headers: received } = incoming
        return { status, headers: received, body: await decodedOrAsItCame(whole, received['content-encoding']) }
      } catch (cause) {
        const found = foundInstead(cause, signal)
        throw new NoAnswerError(`${method} ${baseUrl}${path}: ${found ?? noAnswerInWords(cause)}`, found, { cause })
      }
    },
    [Symbol.dispose]: () => agent.destroy(),
  }
}

/** What is not in the coding that it names is no JSON either: the checks say so. */
function decodedOrAsItCame(bytes: Buffer, contentEncoding: string | undefined): Promise<Buffer> {
  return decodeBody(bytes, contentEncoding, MAX_ANSWER_BYTES).catch((error: unknown) => {
    if (error instanceof CodingError) return bytes
    throw error
  })
}

/** Null where no answer came, or one that broke off. */
function foundInstead(cause: unknown, { reason }: AbortSignal): string | null {
  if (cause instanceof BodySizeError) return TOO_LARGE
  return reason instanceof SilenceError ? TOO_SLOW : null
}
