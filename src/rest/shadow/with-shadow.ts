// The reads of the contract while clients move: either side answers, and the other one is compared with it.
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
  /** Disposed of with what the gateway runs. */
  readonly report: ShadowReport
}

/** What is passed on of the old server's answer. */
const PASSED_HEADERS = ['content-type', 'etag', 'last-modified']

/** Makes each read of the contract one that is compared; other endpoints stay as they are. */
export function createShadowing(
  options: ShadowOptions,
  sessions: Sessions,
  running: AsyncDisposableStack,
): (endpoint: Endpoint) => Endpoint {
  const report = running.use(options.report)
  const stopping = new AbortController()
  const old = running.use(createOldServer(options, stopping.signal, report.failed))
  const shadow = running.use(createShadow(old, options, report, stopping.signal))
  // Before the others: they wait for nobody then.
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

/** Tokens are ours: the client is asked for ours, and the old server is asked with one of its own. */
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
  // A client that leaves while the old server is silent.
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
  // A body that was decoded on its way has another length.
  const names = headers.has('content-encoding') ? PASSED_HEADERS : [...PASSED_HEADERS, 'content-length']
  const passed = names.flatMap((name) => {
    const value = headers.get(name)
    return value === null ? [] : [[name, value] as const]
  })
  return {
    status,
    headers: { ...Object.fromEntries(passed), 'cache-control': 'private, no-cache', vary: 'Authorization' },
    body: status === 304 ? null : streamed(body),
    // Whether all of it was sent, the client has left, or there is no room for it.
    held: { [Symbol.dispose]: () => ended.abort() },
  }
}

/** Answers about what was asked for, good or bad; the rest is about the old server itself. */
function isPassedOn(status: number): boolean {
  return (status >= 200 && status < 300) || status === 304 || status === 400 || status === 404
}

/** A stream also where nothing comes: the answer to HEAD keeps the length that the old server said. */
async function* streamed(body: Response['body']): AsyncGenerator<Uint8Array> {
  if (body) yield* body
}
