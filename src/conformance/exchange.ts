// One request and its answer as they are on the wire, but for the coding of the body: nothing is followed or kept.
import { Agent, type IncomingHttpHeaders, type RequestOptions, request } from 'node:http'
import { request as requestTls, Agent as TlsAgent } from 'node:https'
import { buffer } from 'node:stream/consumers'
import { CodingError, decodeBody } from '../decode-body.ts'
import { noAnswerInWords } from '../errors.ts'

/** Between two parts of an answer. */
const SILENCE_MS = 30_000

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

/** The server did not answer, or broke its answer off. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
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

  return {
    send({ method, path, headers = {}, body }, signal) {
      const text = typeof body === 'object' ? JSON.stringify(body) : body
      const bytes = text === undefined ? null : Buffer.from(text)
      const content = bytes ? { 'content-type': 'application/json', 'content-length': bytes.byteLength } : {}
      const { promise, resolve, reject } = Promise.withResolvers<ProbeAnswer>()
      const broken = (cause: unknown) => {
        reject(new NoAnswerError(`${method} ${baseUrl}${path}: ${noAnswerInWords(cause)}`, { cause }))
      }
      const sent = { accept: 'application/json', ...content, ...headers }
      const outgoing = start(path, { agent, method, headers: sent, signal })
      outgoing.setTimeout(SILENCE_MS, () => outgoing.destroy(new Error('it took too long')))
      outgoing.on('error', broken)
      outgoing.on('response', (incoming) => {
        const { statusCode: status = 0, headers: received } = incoming
        buffer(incoming)
          .then((whole) => decodedOrAsItCame(whole, received['content-encoding']))
          .then((decoded) => resolve({ status, headers: received, body: decoded }), broken)
      })
      outgoing.end(bytes ?? undefined)
      return promise
    },
    [Symbol.dispose]: () => agent.destroy(),
  }
}

/** What is not in the coding that it names is no JSON either: the checks say so. */
function decodedOrAsItCame(bytes: Buffer, contentEncoding: string | undefined): Promise<Buffer> {
  return decodeBody(bytes, contentEncoding).catch((error: unknown) => {
    if (error instanceof CodingError) return bytes
    throw error
  })
}
