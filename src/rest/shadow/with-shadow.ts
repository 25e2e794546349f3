// The contract's reads while clients move to this gateway: it answers them, or the old server does, and the two are compared.
import type { Sessions } from '../../auth/sessions.ts'
import { GatewayError } from '../../errors.ts'
import { viewerOf } from '../../http/bearer.ts'
import type { Endpoint } from '../../http/handler.ts'
import type { GatewayRequest } from '../../http/request.ts'
import type { GatewayResponse } from '../../http/response.ts'
import { READ_ROUTES } from '../routes.ts'
import { createOldServer, OldBusyError, type OldServer, type OldServerAddress } from './old-server.ts'
import { createShadow, type Shadow, type ShadowLimits } from './shadow.ts'
import type { ShadowReport } from './shadow-report.ts'

export interface ShadowOptions extends ShadowLimits, OldServerAddress {
  /** The server that answers the reads. */
  readonly answerFrom: 'ours' | 'old'
  /** Disposed with the gateway. */
  readonly report: ShadowReport
}

/** Headers of the old server's response that clients get. */
const PASSED_HEADERS = ['content-type', 'etag', 'last-modified']

/** Adds the comparison to each read of the contract; other endpoints stay as they are. */
export function createShadowing(
  options: ShadowOptions,
  sessions: Sessions,
  running: AsyncDisposableStack,
): (endpoint: Endpoint) => Endpoint {
  const report = running.use(options.report)
  const stopping = new AbortController()
  const old = running.use(createOldServer(options, stopping.signal, report.failed))
  const shadow = running.use(createShadow(old, options, report, stopping.signal))
  // What is deferred last runs first: the disposals above then have no request to wait for.
  running.defer(() => stopping.abort())
  return (endpoint) => {
    const isRead = READ_ROUTES.some(({ method, path }) => method === endpoint.method && path === endpoint.path)
    if (!isRead) return endpoint
    return options.answerFrom === 'old'
      ? answeredByOld(endpoint, old, shadow, sessions)
      : answeredHere(endpoint, shadow)
  }
}

function answeredHere(endpoint: Endpoint, shadow: Shadow): Endpoint {
  return {
    ...endpoint,
    async handle(request) {
      try {
        return await endpoint.handle(request)
      } finally {
        if (request.method === 'GET') shadow.offer(endpoint, request)
      }
    },
  }
}

/** The client's token is one of this gateway. The old server is asked with a token that it issued itself. */
function answeredByOld(endpoint: Endpoint, old: OldServer, shadow: Shadow, sessions: Sessions): Endpoint {
  return {
    ...endpoint,
    async handle(request) {
      const viewer = await viewerOf(request, sessions)
      if (!viewer) throw new GatewayError('UNAUTHENTICATED')
      request.record.viewer = viewer
      try {
        return await passedOn(endpoint, request, viewer.email, old)
      } finally {
        if (request.method === 'GET') shadow.offer(endpoint, request)
      }
    },
  }
}

async function passedOn(
  { path }: Endpoint,
  { method, search, header, onClosed }: GatewayRequest,
  email: string,
  old: OldServer,
): Promise<GatewayResponse> {
  const ended = new AbortController()
  // The client may disconnect before the old server answers.
  onClosed(() => ended.abort())
  const answer = await old
    .read(email, {
      method: method === 'HEAD' ? 'HEAD' : 'GET',
      target: search === '' ? path : `${path}?${search}`,
      ifNoneMatch: header('if-none-match'),
      signal: ended.signal,
    })
    .catch((error: unknown) => {
      if (!(error instanceof OldBusyError)) return null
      throw new GatewayError('UNAVAILABLE', {
        message: 'The server that answers this for now is busy: try again later.',
        retryAfterSeconds: Math.ceil(error.retryAfterMs / 1_000),
      })
    })
  if (!answer || !isPassedOn(answer.status)) {
    ended.abort()
    throw new GatewayError('UNAVAILABLE', {
      message: 'The server that answers this for now does not answer: try again shortly.',
      retryAfterSeconds: 1,
    })
  }
  const { status, headers, body } = answer
  // `fetch` has decoded a coded body: it has another length now.
  const names = headers.has('content-encoding') ? PASSED_HEADERS : [...PASSED_HEADERS, 'content-length']
  const passed = names.flatMap((name) => {
    const value = headers.get(name)
    return value === null ? [] : [[name, value] as const]
  })
  return {
    status,
    headers: { ...Object.fromEntries(passed), 'cache-control': 'private, no-cache', vary: 'Authorization' },
    body: status === 304 ? null : streamed(body),
    // Disposed when the whole body is sent, the client disconnects, or there is no room for the body.
    held: { [Symbol.dispose]: () => ended.abort() },
  }
}

/** Whether the status says something about the request. Any other says something about the old server, and clients get 503. */
function isPassedOn(status: number): boolean {
  return (status >= 200 && status < 300) || status === 304 || status === 400 || status === 404
}

/** A stream even of no body: with it the response to HEAD keeps the `Content-Length` of the old server. */
async function* streamed(body: Response['body']): AsyncGenerator<Uint8Array> {
  if (body) yield* body
}
