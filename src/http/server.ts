// The edge: node:http in, bytes out. The only file that knows sockets.
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type FailureCode, GatewayError } from '../errors.ts'
import { toProblem } from './failures.ts'
import type { Handler } from './handler.ts'
import type { Reply } from './reply.ts'
import type { GatewayRequest } from './request.ts'

/** A client that sends slower than this is cut off. */
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 30_000
/** Longer than load balancers keep idle connections, so that they never reuse one this side has just closed. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000
/** Node looks for slow clients only this often. */
const CONNECTIONS_CHECK_MS = 500

export interface ServerOptions {
  readonly bodyLimitBytes: number
}

export function createHttpServer(handle: Handler, { bodyLimitBytes }: ServerOptions): Server {
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
    },
    (incoming, response) => {
      void handle(toRequest(incoming, bodyLimitBytes)).then((reply) => {
        // Stopping: the client finds another gateway, or another worker, on its next connection.
        if (!server.listening) response.shouldKeepAlive = false
        return send(reply, incoming, response)
      })
    },
  )
  server.on('clientError', refuseConnection)
  return server
}

function toRequest(incoming: IncomingMessage, bodyLimitBytes: number): GatewayRequest {
  const { path, search } = splitTarget(incoming.url ?? '/')
  return {
    method: incoming.method ?? 'GET',
    path,
    search,
    peerAddress: incoming.socket.remoteAddress ?? '',
    header(name) {
      const value = incoming.headers[name]
      return Array.isArray(value) ? value.join(', ') : value
    },
    body: () => readBody(incoming, bodyLimitBytes),
  }
}

/** The origin form and the absolute form of a request target (RFC 9112 section 3.2). */
function splitTarget(target: string): { readonly path: string; readonly search: string } {
  const absolute = /^https?:\/\/[^/?]*/i.exec(target)?.[0] ?? ''
  const relative = target.slice(absolute.length)
  const question = relative.indexOf('?')
  if (question === -1) return { path: relative || '/', search: '' }
  return { path: relative.slice(0, question) || '/', search: relative.slice(question + 1) }
}

async function readBody(incoming: IncomingMessage, limitBytes: number): Promise<Uint8Array> {
  if (Number(incoming.headers['content-length'] ?? 0) > limitBytes) throw new GatewayError('BODY_TOO_LARGE')
  const encoding = incoming.headers['content-encoding'] ?? 'identity'
  if (encoding !== 'identity')
    throw new GatewayError('UNSUPPORTED_MEDIA_TYPE', { message: 'Send the body without a content encoding.' })
  const chunks: Buffer[] = []
  let byteLength = 0
  // Destroying the request would destroy the socket, and with it the answer.
  for await (const chunk of incoming.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    byteLength += chunk.byteLength
    if (byteLength > limitBytes) throw new GatewayError('BODY_TOO_LARGE')
    chunks.push(chunk)
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)
}

async function send(reply: Reply, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const { status, headers, body } = reply
  // What was not read of a request's body would be taken for the next request.
  if (!incoming.complete) response.shouldKeepAlive = false
  if (isStreamed(body)) {
    response.writeHead(status, headers)
    if (incoming.method === 'HEAD') {
      response.end()
      return
    }
    try {
      await pipeline(Readable.from(body, { objectMode: false }), response)
    } catch {
      // The status is sent: all that is left is to let the client see that the body is not whole.
      response.destroy()
    }
    return
  }
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const length = bytes === null || status === 304 || status === 204 ? {} : { 'content-length': bytes.byteLength }
  response.writeHead(status, { ...headers, ...length })
  response.end(incoming.method === 'HEAD' ? null : bytes)
}

function isStreamed(body: Reply['body']): body is AsyncIterable<Uint8Array> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}

const PARSER_FAILURES: Readonly<Record<string, FailureCode>> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
}

/** Not HTTP, or too slow or too large to become a request. */
function refuseConnection(error: Error & { readonly code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const { status, headers, body } = toProblem(
    new GatewayError(PARSER_FAILURES[error.code ?? ''] ?? 'BAD_REQUEST'),
    () => {},
  )
  const bytes = Buffer.from(String(body))
  const head = Object.entries({ ...headers, 'content-length': bytes.byteLength, connection: 'close' })
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${bytes}`,
  )
}
