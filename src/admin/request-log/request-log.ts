// The request log: which requests get a line. All that were asked for, and always those that were refused or failed.
import { LRUCache } from 'lru-cache'
import { hashedEmail } from '../../auth/audit/audit-log.ts'
import { coarseNetworkOf } from '../../auth/coarse-network.ts'
import type { ObserveResponse } from '../../http/handler.ts'
import type { GatewayRequest } from '../../http/request.ts'
import { requestIdOf } from '../../http/request-id.ts'
import type { RequestRecord } from '../../http/request-record.ts'
import type { FormatLine } from './line.ts'
import { createRefusalLimit } from './refusal-limit.ts'

/** Users and networks whose texts are kept. */
const MAX_KNOWN = 10_000

export interface RequestLogOptions {
  /** One request of so many gets a line; 0: none does, unless it was refused or failed. */
  readonly sampleEvery: number
  readonly format: FormatLine
  /** The key of users' hashes; the audit log's, so that one finds the other. */
  readonly salt: string
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  readonly write: (line: string) => void
  readonly onLeftOut: (status: number, count: number) => void
}

export interface RequestLog extends Disposable {
  readonly observe: ObserveResponse
}

export function createRequestLog(options: RequestLogOptions): RequestLog {
  const { sampleEvery, format, salt, clock, write } = options
  const limit = createRefusalLimit(options.onLeftOut)
  const users = new LRUCache<string, string>({ max: MAX_KNOWN })
  const networks = new LRUCache<string, string>({ max: MAX_KNOWN })
  let untilSampled = 1

  function isSampled(): boolean {
    if (sampleEvery === 0) return false
    untilSampled -= 1
    if (untilSampled > 0) return false
    untilSampled = sampleEvery
    return true
  }

  function userOf({ viewer }: RequestRecord): string | null {
    if (viewer === null) return null
    const known = users.get(viewer.email)
    if (known !== undefined) return known
    const hash = hashedEmail(viewer.email, salt)
    users.set(viewer.email, hash)
    return hash
  }

  function networkOf({ client: { address } }: GatewayRequest): string {
    const known = networks.get(address)
    if (known !== undefined) return known
    const network = coarseNetworkOf(address)
    networks.set(address, network)
    return network
  }

  return {
    observe(request) {
      const { record } = request
      if (!isSampled() && !(isAlwaysLogged(record) && limit.admits(record.status))) return
      const context = {
        now: clock(),
        requestId: requestIdOf(request),
        user: userOf(record),
        network: networkOf(request),
      }
      write(format(request, context))
    },
    [Symbol.dispose]: () => limit[Symbol.dispose](),
  }
}

function isAlwaysLogged({ status, isOriginRefused }: RequestRecord): boolean {
  return status >= 500 || status === 401 || status === 403 || status === 429 || isOriginRefused
}
