// Sends a request to another server, as `fetch` would, over node:http. When a server closes its connection while the body
// of its response waits to be read, `fetch` ends the process (https://github.com/nodejs/undici/issues/5360).
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Duplex, Readable } from 'node:stream'

/** Time limit for a connection to open. */
const CONNECT_MS = 10_000
/** Maximum number of content codings of one body: each takes memory of its own, and a header has room for thousands. */
const MAX_CODINGS = 5
/** Statuses of responses that have no body (RFC 9110 section 15). */
const WITHOUT_BODY = new Set([204, 205, 304])

export interface OutgoingRequest {
  readonly method: string
  /** By lower-case name. */
  readonly headers?: Readonly<Record<string, string>>
  /** The response may arrive, and end, before a stream was read to its end. The rest is not sent then. */
  readonly body?: string | Readable
  /** Aborts the response, too. */
  readonly signal?: AbortSignal
}

/**
 * Follows no redirects. The body is decoded if its content codings are known, and then the headers do not name them.
 * Rejects with the error of the connection, or with the reason of `signal`. So does the body. A server may close a
 * connection just as it is used again: then a GET or HEAD is sent once more.
 */
export function sendRequest(url: string, message: OutgoingRequest): Promise<Response> {
  const { method, headers, body, signal } = message
  const { promise, resolve, reject } = Promise.withResolvers<Response>()
  if (signal?.aborted) return Promise.reject(signal.reason)
  const { request } = process.getBuiltinModule(url.startsWith('https:') ? 'node:https' : 'node:http')
  const length = typeof body === 'string' ? { 'content-length': String(Buffer.byteLength(body)) } : {}
  const defaults = { accept: '*/*', 'accept-encoding': 'gzip, br', 'user-agent': 'node' }
  const outgoing = request(url, { method, headers: { ...defaults, ...length, ...headers } })
  let received: Readable | null = null
  const abort = () => (received ?? outgoing).destroy(signal?.reason)
  signal?.addEventListener('abort', abort)
  outgoing.on('error', (error) => {
    if (received === null && isReadOnClosing(outgoing, error)) resolve(sendRequest(url, message))
    else reject(error)
  })
  outgoing.on('close', () => {
    signal?.removeEventListener('abort', abort)
    // There is no error when the server switches to another protocol (101), which no request here asks for.
    reject(withCode('ECONNRESET'))
  })
  outgoing.on('socket', (socket) => {
    if (!socket.connecting) return
    const timer = setTimeout(() => outgoing.destroy(withCode('ETIMEDOUT')), CONNECT_MS)
    for (const event of ['connect', 'close']) socket.once(event, () => clearTimeout(timer))
  })
  outgoing.on('response', (incoming) => {
    try {
      const decoders = decodersOf(incoming)
      const hasBody = method !== 'HEAD' && !WITHOUT_BODY.has(incoming.statusCode ?? 0)
      received = hasBody ? decoded(incoming, decoders ?? []) : incoming.resume()
      resolve(toResponse(incoming, hasBody ? received : null, decoders !== null))
    } catch (error) {
      outgoing.destroy()
      reject(error)
    }
  })
  if (body === undefined || typeof body === 'string') outgoing.end(body)
  else sendStream(body.once('error', reject), outgoing)
  return promise
}

/**
 * Whether the connection was used before, and the server was just closing it. Such a request can be sent again if it is
 * safe (RFC 9110 section 9.2.2).
 */
function isReadOnClosing({ method, reusedSocket }: ClientRequest, error: NodeJS.ErrnoException): boolean {
  return reusedSocket && error.code === 'ECONNRESET' && ['GET', 'HEAD'].includes(method)
}

function sendStream(body: Readable, outgoing: ClientRequest): void {
  const { pipeline } = process.getBuiltinModule('node:stream')
  outgoing.on('response', (incoming) => incoming.once('end', () => body.destroy()))
  pipeline(body, outgoing, () => {})
}

/** An error with a code of the system. */
export function withCode(code: string): Error {
  return Object.assign(new Error('no answer'), { code })
}

/** Throws for a status that is none of HTTP. */
function toResponse({ statusCode, rawHeaders }: IncomingMessage, body: Readable | null, isDecoded: boolean): Response {
  const headers = new Headers()
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '')
  if (isDecoded) for (const name of ['content-encoding', 'content-length']) headers.delete(name)
  return new Response(body && inWholeReads(body), { status: statusCode ?? 0, headers })
}

/**
 * Unlike `Readable.toWeb`, joins the chunks that have arrived together: a server may send chunks of one byte, and each
 * takes its reader as long as a large one. One read of a socket holds thousands of them.
 */
function inWholeReads(body: Readable): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reads: AsyncIterator<Buffer<ArrayBuffer>> = body[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reads.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel(reason) {
      body.destroy(reason)
    },
  })
}

/** The whole body of a response. Null if it has more than `maxBytes`: then it stops reading. Throws what the body throws. */
export async function readAtMost({ body }: Response, maxBytes: number): Promise<Buffer<ArrayBuffer> | null> {
  const chunks: Uint8Array[] = []
  let byteLength = 0
  for await (const chunk of body ?? []) {
    byteLength += chunk.byteLength
    if (byteLength > maxBytes) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/**
 * A stream for each content coding, the last one that was applied first; null if there are none, unknown ones, or too
 * many.
 */
function decodersOf({ headers }: IncomingMessage): readonly (() => Duplex)[] | null {
  const zlib = process.getBuiltinModule('node:zlib')
  const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH } = zlib.constants
  // A body that ends early is accepted, as by browsers: responses without a body may name a coding.
  const lenient = { flush: Z_SYNC_FLUSH, finishFlush: Z_SYNC_FLUSH }
  const brotli = { flush: BROTLI_OPERATION_FLUSH, finishFlush: BROTLI_OPERATION_FLUSH }
  const known = new Map<string, () => Duplex>([
    ['gzip', () => zlib.createGunzip(lenient)],
    ['x-gzip', () => zlib.createGunzip(lenient)],
    ['deflate', () => zlib.createInflate(lenient)],
    ['br', () => zlib.createBrotliDecompress(brotli)],
    ['zstd', () => zlib.createZstdDecompress()],
  ])
  const codings = (headers['content-encoding'] ?? '').toLowerCase().split(',')
  const named = codings.map((coding) => coding.trim()).filter((coding) => coding !== '')
  if (named.length > MAX_CODINGS) return null
  const decoders = named.toReversed().flatMap((coding) => known.get(coding) ?? [])
  return decoders.length > 0 && decoders.length === named.length ? decoders : null
}

function decoded(incoming: IncomingMessage, decoders: readonly (() => Duplex)[]): Readable {
  const { pipeline } = process.getBuiltinModule('node:stream')
  // The reader of the last stream gets every error.
  return decoders.reduce<Readable>((stream, create) => pipeline(stream, create(), () => {}), incoming)
}
