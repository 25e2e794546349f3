// What is not HTTP, too slow or too large to become a request, or asks for a tunnel: refused in order, after what was asked before it.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { type FailureCode, GatewayError } from '../../errors.ts'
import { toProblem } from '../problem-details.ts'
import { newRequestId, REQUEST_ID_HEADER } from '../request-id.ts'
import { EVERY_RESPONSE, type Headers } from '../response.ts'
import { STATUS_CODES } from './http-builtin.ts'

interface Exchange {
  incoming: IncomingMessage
  response: ServerResponse
}

/** The newest exchange of each connection: answers go out in order, so whatever comes next waits for this one. */
const newest = new WeakMap<Duplex, Exchange>()

export function trackExchange(incoming: IncomingMessage, response: ServerResponse): void {
  const before = newest.get(incoming.socket)
  if (!before) {
    newest.set(incoming.socket, { incoming, response })
    return
  }
  before.incoming = incoming
  before.response = response
}

/** Whether no other request has come behind it. */
export function isNewest(incoming: IncomingMessage): boolean {
  return newest.get(incoming.socket)?.incoming === incoming
}

/** Connections that are refused, or will be after the answers before: node:http tells of each piece that comes behind what is no HTTP. */
const refused = new WeakSet<Duplex>()

/** Connections whose request may take as long as it does. */
const unhurried = new WeakSet<Duplex>()

/** Until it is disposed of: the request that is under way is not cut off for the time it takes. */
export function exemptFromRequestTimeout(socket: Duplex): Disposable {
  unhurried.add(socket)
  return { [Symbol.dispose]: () => unhurried.delete(socket) }
}

const PARSER_FAILURES: Readonly<Record<string, FailureCode>> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
}

/** A client that was refused has so long to close its end of the connection: it may have to read answers before, over a slow network. */
const REFUSED_CLOSE_MS = 30_000
/** The same, of one that was refused a tunnel: what it sends on goes nowhere. */
const TUNNEL_CLOSE_MS = 1_000

export interface RefusalOptions {
  /** Besides those that every failure has. */
  readonly headers?: Headers | undefined
  readonly onRefused?: ((code: FailureCode) => void) | undefined
}

/** Of a server's `clientError`. */
export function handleClientError(
  error: Error & { readonly code?: string },
  socket: Duplex,
  options: RefusalOptions,
): void {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && unhurried.has(socket)) return
  if (error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  if (refused.has(socket)) return
  if (!socket.writable) {
    socket.destroy()
    return
  }
  refuse(new GatewayError(PARSER_FAILURES[error.code ?? ''] ?? 'BAD_REQUEST'), socket, options)
}

/** Of a server's `connect`: there are no tunnels, so no method is allowed for any target of one. */
export function refuseTunnel(socket: Duplex, options: RefusalOptions): void {
  // node:http has left the connection: nobody else reads it, hears of its errors or closes it.
  socket.on('error', () => {})
  socket.resume()
  refuse(new GatewayError('METHOD_NOT_ALLOWED', { allow: '' }), socket, options, TUNNEL_CLOSE_MS)
}

function refuse(
  error: GatewayError,
  socket: Duplex,
  { headers = {}, onRefused }: RefusalOptions,
  closeMs = REFUSED_CLOSE_MS,
): void {
  refused.add(socket)
  onRefused?.(error.code)
  const refusal = toRefusal(error, headers)
  const end = () => {
    // With an answer that was to be sent before.
    if (socket.destroyed) return
    socket.end(refusal)
    // Nobody else does: node:http looks no more at a connection that has taken too long, nor hears its request of an end.
    const timer = setTimeout(() => socket.destroy(), closeMs)
    socket.once('close', () => clearTimeout(timer))
  }
  const before = newest.get(socket)
  if (before && !before.incoming.complete) refuseInPlaceOf(before.response, socket, end)
  else if (!before || before.response.writableFinished) end()
  else before.response.once('close', end)
}

/** The newest request is itself what is broken: the refusal is its answer, unless that has begun. */
function refuseInPlaceOf(response: ServerResponse, socket: Duplex, end: () => void): void {
  if (response.headersSent) socket.destroy()
  else if (response.socket) end()
  else response.once('socket', end)
}

/** The whole response as text, with what node:http and the pipeline give every other failure. */
function toRefusal(error: GatewayError, added: Headers): string {
  const requestId = newRequestId()
  const { status, headers, body } = toProblem(error, () => {}, requestId)
  const text = String(body)
  const all = {
    ...headers,
    ...EVERY_RESPONSE,
    ...added,
    [REQUEST_ID_HEADER]: requestId,
    'content-length': Buffer.byteLength(text),
    // RFC 9110 section 6.6.1.
    date: new Date().toUTCString(),
    connection: 'close',
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${text}`
}
