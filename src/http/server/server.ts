// Runs the HTTP server on node:http and sets the timeouts for headers, requests and idle connections. Only this folder
// knows sockets.
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { type FailureCode, GatewayError } from '../../errors.ts'
import { createServer } from '../../http-builtin.ts'
import type { Awaitable } from '../../store/contract.ts'
import { acceptProxyProtocol } from '../forwarding/accept-proxy-protocol.ts'
import { createTrustedProxies } from '../forwarding/trusted-proxies.ts'
import type { Handler, ObserveResponse } from '../handler.ts'
import type { Accepting } from '../limits/accepting.ts'
import { toProblem } from '../problem-details.ts'
import type { GatewayRequest } from '../request.ts'
import { forwardedRequestId, requestIdOf } from '../request-id.ts'
import { startRecord } from '../request-record.ts'
import { type GatewayResponse, type Headers, pickHeaders, withHeaders } from '../response.ts'
import { streamBody } from './body-stream.ts'
import { hasLeft } from './broken-off.ts'
import { handleClientError, isNewest, refuseTunnel, trackExchange } from './client-error.ts'
import { type Connection, createConnections } from './connection.ts'
import { createIdleConnections } from './connections/idle-connections.ts'
import { createBodyPacing } from './pacing/pace-body.ts'
import { closeAfter, limitPipelining, type Pipelining } from './pipelining.ts'
import { createBodyReader, type ReadBody } from './read-body.ts'
import { HEADER_LINES_READ, hasFaultyFraming, refusalOfHead } from './request-head.ts'
import { createSender, type SendOptions } from './send-response.ts'
import { closeOnEnd, whenClosed } from './when-closed.ts'

/** A client that sends its headers, or its request, slower than this is cut off. */
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 30_000
/**
 * Longer than proxies keep idle connections open (nginx 60 s, Caddy 120 s), so that they never reuse a connection that
 * the gateway is just closing.
 */
const KEEP_ALIVE_TIMEOUT_MS = 150_000
/** Interval at which Node checks for slow clients. */
const CONNECTIONS_CHECK_MS = 500
/** Headers that the pipeline put on the original reply and that hold for any other reply to the same request. */
const CARRIED_OVER_HEADERS = [
  'access-control-allow-origin',
  'access-control-expose-headers',
  'deprecation',
  'link',
  'sunset',
  'vary',
]

/**
 * `tooMany`: the maximum number of connections is open. `noProxyHeader`: a proxy did not send the PROXY header that is
 * required of it. `tooManyAhead`: too many requests wait that clients sent before they had the answers to earlier ones.
 */
export type ConnectionRefusal = 'tooMany' | 'noProxyHeader' | 'tooManyAhead'

/** Called for each connection that was closed without an answer to what was sent; `peer` is the remote address. */
export type ReportRefusedConnection = (reason: ConnectionRefusal, peer: string) => void

export interface ServerOptions extends Pick<SendOptions, 'inFlight' | 'sendTimeoutMs'> {
  readonly bodyLimitBytes: number
  /** Addresses and networks of proxies whose forwarding headers are trusted. */
  readonly trustedProxies?: readonly string[]
  /** Whether the connections of these proxies begin with a PROXY header. */
  readonly proxyProtocol?: boolean
  /**
   * When as many are open, the one that has been idle longest is closed. If none is idle, further connections are
   * closed at once. Without it the operating system sets the limit, and connections beyond it leave no trace.
   */
  readonly maxConnections?: number | undefined
  readonly onRefusedConnection?: ReportRefusedConnection
  /** Told of each connection that Node accepts, even of those that are closed at once. */
  readonly accepting?: Pick<Accepting, 'onConnection'>
  /** Milliseconds that the headers of a request may take. */
  readonly headersTimeoutMs?: number
  readonly reportBrokenOff?: SendOptions['reportBrokenOff']
  /** Called for input that does not become a request: no observer sees it. */
  readonly onMalformed?: ((code: FailureCode) => void) | undefined
  /** Headers for refusals that are sent before a request is handled, since no pipeline adds them. */
  readonly refusalHeaders?: Headers
  /** Called with every request before anything else is done with it. */
  readonly onRequest?: ((request: GatewayRequest) => void) | undefined
  /** Calls `answer` synchronously. A wrapper can thus attribute work to its request. */
  readonly within?: ((request: GatewayRequest, answer: () => void) => void) | undefined
  /** Called for every response, in this order. */
  readonly observers?: readonly ObserveResponse[]
  /**
   * Whether every response has an `X-Request-Id`. Otherwise only failures have one, and responses whose id a trusted
   * proxy chose.
   */
  readonly hasRequestIds?: boolean
}

export interface GatewayServer extends Server {
  /** Number of requests that are handled and not yet answered completely. */
  readonly requestsInFlight: () => number
  /** Closes the connections on which no request is answered, or has begun to arrive. */
  readonly closeUnused: () => void
}

export function createHttpServer(handle: Handler, options: ServerOptions): GatewayServer {
  const { bodyLimitBytes, trustedProxies = [], proxyProtocol = false } = options
  const { inFlight, sendTimeoutMs, reportBrokenOff = () => {} } = options
  const paceBody = createBodyPacing()
  const readBody = createBodyReader(bodyLimitBytes)
  const send = createSender({ inFlight, sendTimeoutMs, reportBrokenOff })
  const { refusalHeaders = {}, onMalformed } = options
  const { observers = [], hasRequestIds = false, onRequest, within, onRefusedConnection = () => {} } = options

  /** Returns null when the response shows no request id. */
  function shownRequestId(request: GatewayRequest, { failureCode }: GatewayResponse): string | null {
    const isShown = hasRequestIds || failureCode !== undefined || forwardedRequestId(request) !== null
    return isShown ? requestIdOf(request) : null
  }

  function observe(request: GatewayRequest, reply: GatewayResponse, sentBytes: number, isBrokenOff: boolean): void {
    const { record } = request
    record.status = reply.status
    record.failureCode = reply.failureCode ?? null
    record.sentBytes = sentBytes
    record.isBrokenOff = isBrokenOff
    record.durationMs = performance.now() - record.startedAt
    for (const observer of observers) observer(request)
  }

  function answer(incoming: IncomingMessage, response: ServerResponse): void {
    const request = toRequest(incoming, response, connectionOf(incoming.socket), reading)
    onRequest?.(request)
    if (within) within(request, () => respond(request, incoming, response))
    else respond(request, incoming, response)
  }

  async function refuseHead(code: FailureCode, request: GatewayRequest): Promise<GatewayResponse> {
    return withHeaders(
      toProblem(new GatewayError(code), () => {}, requestIdOf(request)),
      refusalHeaders,
    )
  }

  function respond(request: GatewayRequest, incoming: IncomingMessage, response: ServerResponse): void {
    const refusal = refusalOfHead(incoming, request.header('host'))
    const replying = refusal === null ? handle(request) : refuseHead(refusal, request)
    void replying.then((reply) => {
      // During a graceful shutdown the connection closes, so that the client reaches another gateway or worker on its
      // next one.
      if (!server.listening && isNewest(incoming)) closeAfter(incoming, response)
      let sent = reply
      let sending: Awaitable<number>
      function sendProblem(error: unknown): Awaitable<number> {
        const requestId = requestIdOf(request)
        sent = withHeaders(
          toProblem(error, () => {}, requestId),
          pickHeaders(CARRIED_OVER_HEADERS, (name) => reply.headers[name]),
        )
        return send(sent, incoming, response, requestId)
      }
      try {
        sending = send(reply, incoming, response, shownRequestId(request, reply))
      } catch (error) {
        sending = sendProblem(error)
      }
      const onSent = (sentBytes: number) => observe(request, sent, sentBytes, hasLeft(incoming, response))
      // A response that is sent later may also be refused later, when there is no room for it any more.
      if (sending instanceof Promise) void sending.catch(sendProblem).then(onSent)
      else onSent(sending)
    })
  }

  const { maxConnections = Number.POSITIVE_INFINITY } = options
  const headersTimeoutMs = options.headersTimeoutMs ?? HEADERS_TIMEOUT_MS
  const idle = createIdleConnections(
    maxConnections,
    (socket) => proxyHeaders?.headerBytesOf(socket) ?? 0,
    KEEP_ALIVE_TIMEOUT_MS - headersTimeoutMs,
  )
  const pipelining = limitPipelining(
    answer,
    () => !server.listening,
    (socket) => onRefusedConnection('tooManyAhead', socket.remoteAddress ?? ''),
    idle,
  )

  const reading = { readBody, inFlightOn: pipelining.inFlightOn }

  /** A request that breaks off while it is answered is left to the observers. */
  function onRefused(code: FailureCode, incoming: IncomingMessage | null): void {
    if (incoming === null || !pipelining.isNewestHandled(incoming.socket)) onMalformed?.(code)
  }

  function listen(incoming: IncomingMessage, response: ServerResponse): void {
    const { socket } = incoming
    // The client reset its new connection, and its address went with it: neither limits nor the audit log could tell who
    // it was. Nobody reads the answer.
    if (socket.remoteAddress === undefined) {
      socket.destroy()
      return
    }
    trackExchange(incoming, response)
    paceBody(incoming)
    pipelining.listen(incoming, response)
    if (hasFaultyFraming(incoming)) closeAfter(incoming, response)
  }

  const server = createServer(
    {
      headersTimeout: headersTimeoutMs,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
      // `refusalOfHead` checks Host instead, so that this refusal looks like every other one.
      requireHostHeader: false,
    },
    listen,
  )
  // node:http drops lines beyond this number, perhaps a second Host or a line that a proxy added, so such a request is
  // refused.
  server.maxHeadersCount = HEADER_LINES_READ
  // The body readers answer `100 Continue`; unknown expectations may be ignored (RFC 9110 section 10.1.1).
  server.on('checkContinue', listen)
  server.on('checkExpectation', listen)
  server.on('connect', (_request, socket) => refuseTunnel(socket, { headers: refusalHeaders, onRefused }))
  server.on('clientError', (error, socket) => {
    // Clients open connections ahead, and send on one just when it is refused: they would take the 408 for the answer.
    // node:http measures the time anew once a request begins.
    if ((error as NodeJS.ErrnoException).code === 'ERR_HTTP_REQUEST_TIMEOUT' && idle.keepUnused(socket)) return
    const { requestTimeout: requestTimeoutMs } = server
    handleClientError(error, socket, { headers: refusalHeaders, onRefused, requestTimeoutMs })
  })
  // A client may close its side behind its request and wait for the answer (RFC 9112 section 9.6). Without this, node:http
  // closes the other side too, and only an answer that is ready at once arrives.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.maxConnections = maxConnections
  server.on('drop', (dropped) => onRefusedConnection('tooMany', dropped?.remoteAddress ?? ''))
  const proxies = createTrustedProxies(trustedProxies)
  const onNoHeader = (peer: string) => onRefusedConnection('noProxyHeader', peer)
  const proxyHeaders = proxyProtocol ? acceptProxyProtocol(server, proxies.includes, onNoHeader) : null
  server.on('connection', idle.onConnection)
  const { accepting } = options
  if (accepting) server.on('connection', accepting.onConnection).on('drop', accepting.onConnection)
  const connectionOf = createConnections(proxies, proxyHeaders)
  return Object.assign(server, {
    requestsInFlight: pipelining.inFlight,
    // `closeIdleConnections` of node:http also closes connections whose answers wait for a slow client, and none that
    // has not sent a request yet.
    closeUnused: idle.close,
  })
}

function toRequest(
  incoming: IncomingMessage,
  response: ServerResponse,
  connection: Connection,
  { readBody, inFlightOn }: { readonly readBody: ReadBody } & Pick<Pipelining, 'inFlightOn'>,
): GatewayRequest {
  const { path, search, authority } = splitTarget(incoming.url ?? '/')
  function header(name: string): string | undefined {
    // RFC 9112 section 3.2.2: the host of an absolute target overrides the Host field.
    if (authority !== null && name === 'host') return authority
    const value = incoming.headers[name]
    return Array.isArray(value) ? value.join(', ') : value
  }
  const client = connection.client(header)
  return {
    method: incoming.method ?? 'GET',
    path,
    search,
    isFirstOfConnection: connection.countRequest() === 1,
    // No getter: the hidden class of an object with a getter outlives what the getter closes over, here whole requests.
    peer: connection.peer,
    client,
    httpVersion: incoming.httpVersionMinor === 0 ? '1.0' : '1.1',
    header,
    body: (limitBytes, heldUntil) => readBody(incoming, response, client.address, limitBytes, heldUntil),
    bodyStream: () => streamBody(incoming, response),
    onClosed(stop) {
      closeOnEnd(incoming, response, inFlightOn)
      whenClosed(response, stop)
    },
    record: startRecord(performance.now()),
  }
}

interface Target {
  readonly path: string
  readonly search: string
  /** Set for the absolute form. */
  readonly authority: string | null
}

/** Parses the origin form and the absolute form of a request target (RFC 9112 section 3.2). */
function splitTarget(target: string): Target {
  const absolute = target.startsWith('/') ? null : /^https?:\/\/([^/?]*)/i.exec(target)
  const relative = target.slice(absolute?.[0].length ?? 0)
  const authority = absolute?.[1] ?? null
  const question = relative.indexOf('?')
  if (question === -1) return { path: relative || '/', search: '', authority }
  return { path: relative.slice(0, question) || '/', search: relative.slice(question + 1), authority }
}
