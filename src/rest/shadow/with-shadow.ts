// Wraps the reads of the contract during a migration: this gateway or the old server answers them, and the two are
// compared.
import { viewerOf } from '../../auth/bearer.ts'
import type { Sessions } from '../../auth/sessions.ts'
import { GatewayError } from '../../errors.ts'
import type { Endpoint } from '../../http/handler.ts'
import { JSON_ONLY } from '../../import-export/remote/client.ts'
import { READ_ROUTES } from '../routes.ts'
import { OldAwayError } from './old-errors.ts'
import { createOldServer } from './old-server.ts'
import type { OldServerAddress } from './old-sessions.ts'
import { createPassOn, type PassOn } from './pass-on.ts'
import { createShadow, type Shadow, type ShadowLimits } from './shadow.ts'
import type { ShadowReport } from './shadow-report.ts'

/** Not `Via` or `CDN-Loop`: an old server that lets only its own machine in would take the request for one of a proxy. */
const MARK_HEADER = 'workspace-gateway-shadow'

export interface ShadowOptions extends ShadowLimits, OldServerAddress {
  /** The server that answers the reads. */
  readonly answerFrom: 'ours' | 'old'
  /**
   * Maximum number of client reads that the old server answers at a time: each is a connection. Without it there is no
   * limit.
   */
  readonly maxReads: number | undefined
  /** Marks every request to the old server. All gateways of a database have the same one. */
  readonly mark: string
  /** Disposed of with the gateway. */
  readonly report: ShadowReport
}

/** Adds the comparison to each read of the contract. Other endpoints stay unchanged. */
export function createShadowing(
  options: ShadowOptions,
  sessions: Sessions,
  running: AsyncDisposableStack,
): (endpoint: Endpoint) => Endpoint {
  const report = running.use(options.report)
  const stopping = new AbortController()
  const { url, headers, mark } = options
  const address = { url, headers: { accept: JSON_ONLY, ...headers, [MARK_HEADER]: mark } }
  const old = running.use(createOldServer(address, stopping.signal, report.failed))
  const passOn = createPassOn(old, report, options.maxReads)
  const shadow = running.use(createShadow(old, options, report, stopping.signal))
  // A deferred call runs before the disposals registered earlier, so those have no request to wait for.
  running.defer(() => stopping.abort())
  return (endpoint) => {
    const isRead = READ_ROUTES.some(({ method, path }) => method === endpoint.method && path === endpoint.path)
    if (!isRead) return endpoint
    const shadowed =
      options.answerFrom === 'old' ? answeredByOld(endpoint, passOn, shadow, sessions) : answeredHere(endpoint, shadow)
    return unlessLoop(endpoint, shadowed, options)
  }
}

/**
 * A request that comes from the shadow itself is neither compared nor passed on again, or it would go round for ever:
 * the name of the old server may point to this gateway by now.
 */
function unlessLoop(
  endpoint: Endpoint,
  shadowed: Endpoint,
  { mark, answerFrom, report }: Pick<ShadowOptions, 'mark' | 'answerFrom' | 'report'>,
): Endpoint {
  return {
    ...shadowed,
    async handle(request) {
      if (request.header(MARK_HEADER) !== mark) return shadowed.handle(request)
      report.failed(new OldAwayError('the address of the old server leads back to this gateway'))
      if (answerFrom === 'old') throw new GatewayError('UNAVAILABLE', { retryAfterSeconds: 1 })
      return endpoint.handle(request)
    },
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

/** The client's token belongs to this gateway. The old server gets a token that it issued itself. */
function answeredByOld(endpoint: Endpoint, passOn: PassOn, shadow: Shadow, sessions: Sessions): Endpoint {
  return {
    ...endpoint,
    async handle(request) {
      const viewer = await viewerOf(request, sessions)
      if (!viewer) throw new GatewayError('UNAUTHENTICATED')
      request.record.viewer = viewer
      try {
        return await passOn(request, viewer.email)
      } finally {
        if (request.method === 'GET') shadow.offer(endpoint, request)
      }
    },
  }
}
