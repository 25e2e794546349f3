// Refuses input that is not HTTP, is too slow or too large to become a request, or asks for a tunnel. The refusal goes
// out after the answers to earlier requests.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { type FailureCode, GatewayError } from '../../errors.ts'
import { STATUS_CODES } from '../../http-builtin.ts'
import { toProblem } from '../problem-details.ts'
import { newRequestId, REQUEST_ID_HEADER } from '../request-id.ts'
import { EVERY_RESPONSE, type Headers } from '../response.ts'

interface Exchange {
  incoming: IncomingMessage
  response: ServerResponse
  /** Set while a request gets its time anew. */
  late: LateRequest | null
}

/** A request that ran out of time while the gateway did not read its connection. */
interface LateRequest {
  /** Null until its head has been read. */
  incoming: IncomingMessage | null
}

/** The newest exchange of each connection. Responses go out in order, so a refusal waits for this one. */
const newest = new WeakMap<Duplex, Exchange>()

export function trackExchange(incoming: IncomingMessage, response: ServerResponse): void {
  const before = newest.get(incoming.socket)
  if (!before) {
    newest.set(incoming.socket, { incoming, response, late: null })
    return
  }
  if (before.late) before.late.incoming ??= incoming
  before.incoming = incoming
  before.response = response
}

/** Whether no later request has arrived on the connection. */
export function isNewest(incoming: IncomingMessage): boolean {
  return newest.get(incoming.socket)?.incoming === incoming
}

/**
 * Connections that are refused, or will be after earlier responses. node:http emits `clientError` again for each chunk
 * that follows invalid input.
 */
const refused = new WeakSet<Duplex>()

/** Why requests were refused whose head had been read, but not their body. */
const refusals = new WeakMap<IncomingMessage, GatewayError>()

/** Returns why the rest of the request was refused; null if it was not. */
export function refusalOfBody(incoming: IncomingMessage): GatewayError | null {
  return refusals.get(incoming) ?? null
}

/** Connections whose current request is exempt from the request timeout. */
const timeoutExempt = new WeakSet<Duplex>()

/** Exempts the request in flight from the request timeout until the result is disposed of. */
export function exemptFromRequestTimeout(socket: Duplex): Disposable {
  timeoutExempt.add(socket)
  return { [Symbol.dispose]: () => timeoutExempt.delete(socket) }
}

const PARSER_FAILURES: Readonly<Record<string, FailureCode>> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
}

/**
 * Time for a refused client to close its end of the connection: it may first have to read earlier responses over a slow
 * network.
 */
const REFUSED_CLOSE_MS = 30_000
/** The same for a client that was refused a tunnel: whatever else it sends is discarded. */
const TUNNEL_CLOSE_MS = 1_000

export interface RefusalOptions {
  /** Headers besides those that every failure has. */
  readonly headers?: Headers | undefined
  /** `incoming` is the request whose body was refused; null if there was none yet. */
  readonly onRefused?: ((code: FailureCode, incoming: IncomingMessage | null) => void) | undefined
}

interface ClientErrorOptions extends RefusalOptions {
  /** Milliseconds that a request may take. */
  readonly requestTimeoutMs: number
}

/** Handles a server's `clientError` event. */
export function handleClientError(
  error: Error & { readonly code?: string },
  socket: Duplex,
  options: ClientErrorOptions,
): void {
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    if (timeoutExempt.has(socket)) return
    const exchange = newest.get(socket)
    if (exchange && socket.isPaused()) {
      giveTimeAnew(exchange, socket, options.requestTimeoutMs, () => handleClientError(error, socket, options))
      return
    }
  }
  if (error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  if (refused.has(socket)) return
  if (!socket.writable) {
    socket.destroy()
    return
  }
  refuse(failureOf(error.code ?? ''), socket, options)
}

/** An address with a space ends there for the parser, which then misses the constant `HTTP/`. */
const INVALID_ADDRESS: ReadonlySet<string> = new Set(['HPE_INVALID_URL', 'HPE_INVALID_CONSTANT'])

/** `parserCode` is the code of node:http's error. */
function failureOf(parserCode: string): GatewayError {
  if (!INVALID_ADDRESS.has(parserCode)) return new GatewayError(PARSER_FAILURES[parserCode] ?? 'BAD_REQUEST')
  // Some clients, such as curl and Go, send an address as it was typed. The parser does not say which of the rules it
  // breaks.
  return new GatewayError('BAD_REQUEST', {
    message:
      'The address is invalid: begin it with a slash, and percent-encode spaces and all that is not visible ASCII, such as %20 and %C3%A9.',
  })
}

/**
 * What is missing may have arrived long ago: the gateway does not read a connection whose answers are not read. The time
 * begins again when it does. node:http reports a request only once, so `refuse` is called here when it is late again.
 */
function giveTimeAnew(exchange: Exchange, socket: Duplex, timeoutMs: number, refuse: () => void): void {
  const late: LateRequest = { incoming: exchange.incoming.complete ? null : exchange.incoming }
  exchange.late = late
  let timer: NodeJS.Timeout | undefined

  function onClose(): void {
    clearTimeout(timer)
  }

  function check(): void {
    socket.off('close', onClose)
    // By now a later request may be late.
    if (exchange.late === late) exchange.late = null
    if (!late.incoming?.complete) refuse()
  }

  function onResume(): void {
    // Others pause it again at once when node:http resumes it.
    if (socket.isPaused()) return
    socket.off('resume', onResume)
    timer = setTimeout(check, timeoutMs)
  }

  socket.on('resume', onResume)
  socket.once('close', onClose)
}

/**
 * Handles a server's `connect` event. The gateway offers no tunnels, so `Allow` lists no method for any target of one.
 */
export function refuseTunnel(socket: Duplex, options: RefusalOptions): void {
  // node:http has detached from the socket: no other code reads it, handles its errors or closes it.
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
  const before = newest.get(socket)
  const incoming = before && !before.incoming.complete ? before.incoming : null
  refused.add(socket)
  if (incoming) refusals.set(incoming, error)
  onRefused?.(error.code, incoming)
  const refusal = toRefusal(error, headers)
  const end = () => {
    // An earlier response destroyed the socket.
    if (socket.destroyed) return
    socket.end(refusal)
    // No other code closes the connection: node:http no longer checks a connection that timed out, and ignores its end.
    const timer = setTimeout(() => socket.destroy(), closeMs)
    socket.once('close', () => clearTimeout(timer))
  }
  if (before && incoming) refuseInPlaceOf(before.response, socket, end)
  else if (!before || before.response.writableFinished) end()
  else before.response.once('close', end)
}

/** The newest request itself is broken, so the refusal is its response, unless that has already begun. */
function refuseInPlaceOf(response: ServerResponse, socket: Duplex, end: () => void): void {
  if (response.headersSent) socket.destroy()
  else if (response.socket) end()
  else response.once('socket', end)
}

/** Formats the whole response as text, with the headers that node:http and the pipeline give every other failure. */
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
