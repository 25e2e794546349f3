// The HTTP client of the doctor: sends requests through the proxies in front of a gateway, and measures what the checks
// need.
import type { IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP } from 'node:net'
import { Readable } from 'node:stream'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { BodySizeError, CodingError, decodeBody } from '../../../decode-body.ts'
import { request as requestHttp } from '../../../http-builtin.ts'
import { createSilenceLimit, readWhole, type SilenceLimit } from '../../../import-export/remote/answer-limits.ts'
import { memberOf } from '../../../member-of.ts'
import { responseTo } from '../../../response-to.ts'
import { AnswerError, withoutOpenssl } from './answer-error.ts'

/**
 * The doctor's source address when the gateway is on this machine. It differs from the 127.0.0.1 of local proxies, so
 * that the two can be told apart. On Linux the whole network 127.0.0.0/8 is local.
 */
const OTHER_LOOPBACK = { localAddress: '127.0.0.2', family: 4 }
/** Timeout for every 64 KiB of a request, then until an answer begins, and then for every 64 KiB of it. */
const PATIENCE_MS = 15_000
const PIECE_BYTES = 65_536
/**
 * Maximum size of a body, before and after its content coding is decoded. The gateway's answers here are far smaller.
 */
const MAX_ANSWER_BYTES = 8_388_608
const TOO_SLOW = 'something answers, but takes longer than 15 s for 64 KiB'
const TOO_LARGE = 'something answers, but with a body of more than 8 MiB'

export interface Target {
  readonly url: URL
  /** Address to connect to instead of the one that the host of the URL resolves to. */
  readonly address: string | undefined
  /** Certificates of authorities in PEM. Undefined means those that Node knows. */
  readonly ca: string | undefined
}

export interface Question {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Replaces `PATIENCE_MS`. */
  readonly patienceMs?: number
}

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Decoded: the content coding is removed, even if the headers still name it. */
  readonly body: Buffer
  /** Milliseconds between the first and the last byte of the body. */
  readonly spanMs: number
  /** The doctor's source address of this request. */
  readonly localAddress: string
}

/** Turns an IPv4-mapped IPv6 address into the IPv4 address (RFC 4291 section 2.5.5.2). */
export function unmapped(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '')
}

/** Rejects with an `AnswerError` when an answer cannot be read, and with another error when there is none. */
export type Ask = (question: Question) => Promise<Reply>

export function createAsk({ url, address, ca }: Target): Ask {
  const isTls = url.protocol === 'https:'
  const host = address ?? hostOf(url)

  /** Resolves when the headers of the answer have arrived. */
  function answerTo(question: Question, silence: SilenceLimit): Promise<IncomingMessage> {
    const { method = 'GET', path, headers = {}, body = '', patienceMs = PATIENCE_MS } = question
    const { signal } = silence
    const bytes = Buffer.from(body)
    const options = {
      host,
      port: portOf(url),
      method,
      path: pathBelow(url, path),
      headers: {
        host: url.host,
        ...headers,
        ...(bytes.byteLength === 0 ? {} : { 'content-length': bytes.byteLength }),
      },
      agent: false,
      signal,
      ...(isLoopback(host) && host !== '::1' && process.platform === 'linux' ? OTHER_LOOPBACK : {}),
      // A bad certificate is a finding of its own and must not fail every other check.
      ...(isTls ? { ...tlsOptions(url, ca), rejectUnauthorized: false } : {}),
    }
    const sent = (isTls ? requestHttps : requestHttp)(options)
    Readable.from(piecesOf(bytes, silence)).pipe(sent)
    return responseTo(sent).catch((error: Error) => {
      throw signal.aborted ? new Error(`no answer within ${patienceMs / 1_000} s`) : withoutOpenssl(error)
    })
  }

  return async (question) => {
    using silence = createSilenceLimit(question.patienceMs ?? PATIENCE_MS, [])
    const response = await answerTo(question, silence)
    const localAddress = unmapped(response.socket.localAddress ?? '')
    silence.isHeard()
    let firstAt: number | undefined
    try {
      const coded = await readWhole(response, MAX_ANSWER_BYTES, silence, () => {
        firstAt ??= performance.now()
      })
      if (coded === null) throw new AnswerError(TOO_LARGE)
      const spanMs = firstAt === undefined ? 0 : performance.now() - firstAt
      const received = Object.entries(response.headers).map(([name, value]) => [name, String(value)])
      const body = await decodeBody(coded, response.headers['content-encoding'], MAX_ANSWER_BYTES)
      return { status: response.statusCode ?? 0, headers: Object.fromEntries(received), body, spanMs, localAddress }
    } catch (error) {
      if (silence.signal.aborted) throw new AnswerError(TOO_SLOW)
      if (error instanceof BodySizeError) throw new AnswerError(TOO_LARGE)
      throw error instanceof CodingError ? new AnswerError(error.message) : error
    }
  }
}

/** Restarts `silence` whenever a piece is taken, so that a large body over a slow line has its time. */
function* piecesOf(body: Buffer, silence: SilenceLimit): Generator<Buffer> {
  for (let at = 0; at < body.byteLength; at += PIECE_BYTES) {
    silence.isHeard()
    yield body.subarray(at, at + PIECE_BYTES)
  }
}

/**
 * Makes only a TLS handshake. `problem` says why the certificate is not trusted, or is null; `expiresAt` is in
 * milliseconds since the epoch. Rejects when the handshake fails.
 */
export async function shakeHands(
  { url, address, ca }: Target,
  options: ConnectionOptions = {},
): Promise<{ readonly problem: string | null; readonly expiresAt: number }> {
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>()
  const socket = connect({
    host: address ?? hostOf(url),
    port: portOf(url),
    ...tlsOptions(url, ca),
    ...options,
    rejectUnauthorized: false,
    timeout: PATIENCE_MS,
  })
  socket.once('secureConnect', () => resolve(socket)).once('error', (error) => reject(withoutOpenssl(error)))
  socket.once('timeout', () => reject(new Error('no answer to the handshake')))
  try {
    await promise
    const { authorizationError } = socket
    return {
      problem: socket.authorized ? null : String(memberOf(authorizationError, 'message') ?? authorizationError),
      expiresAt: Date.parse(socket.getPeerCertificate().valid_to),
    }
  } finally {
    socket.destroy()
  }
}

/** Whether the URL is plain http on this machine, so that it may be the gateway itself without a proxy. */
export function isDirect({ url, address }: Target): boolean {
  return url.protocol === 'http:' && isLoopback(address ?? hostOf(url))
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host)
}

/** A path of the gateway as its clients see it: the URL may have a path of its own. */
export function pathBelow(url: URL, path: string): string {
  return url.pathname.replace(/\/$/, '') + path
}

export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '')
}

function portOf(url: URL): number {
  return Number(url.port || (url.protocol === 'https:' ? 443 : 80))
}

function tlsOptions(url: URL, ca: string | undefined): ConnectionOptions {
  const name = hostOf(url)
  return { ...(isIP(name) === 0 ? { servername: name } : {}), ...(ca === undefined ? {} : { ca }) }
}
