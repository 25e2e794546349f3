// The request log: decides which requests get a line. It logs the configured sample, and always refusals and failures.
import { coarseNetworkOf } from '../../auth/coarse-network.ts'
import type { ObserveResponse } from '../../http/handler.ts'
import { isPlanned } from '../../http/problem-details.ts'
import { requestIdOf } from '../../http/request-id.ts'
import type { RequestRecord } from '../../http/request-record.ts'
import { hashedEmail } from '../../store/hashed-email.ts'
import { createKnown } from './known.ts'
import type { PutLine } from './line.ts'
import type { LineBytes } from './line-bytes.ts'
import { createRefusalLimit, type LeftOut } from './refusal-limit.ts'

/** Number of users whose hash is cached, and of addresses whose network is. */
const MAX_KNOWN = 10_000

export interface RequestLogOptions {
  /** One request in this many gets a line. With 0 only refused and failed requests do. */
  readonly sampleEvery: number
  readonly putLine: PutLine
  /** The key for hashing users; the audit log uses the same one, so that entries can be matched. */
  readonly salt: string
  /** Milliseconds since the epoch. */
  readonly clock: () => number
  /** Returns where the next line goes, with room for `MAX_LINE_BYTES`. */
  readonly roomForLine: () => LineBytes
  readonly onLeftOut: (leftOut: LeftOut) => void
}

export interface RequestLog extends Disposable {
  readonly observe: ObserveResponse
}

export function createRequestLog(options: RequestLogOptions): RequestLog {
  const { sampleEvery, putLine, salt, clock, roomForLine } = options
  const limit = createRefusalLimit(options.onLeftOut)
  const hashOf = createKnown(MAX_KNOWN, (email) => hashedEmail(email, salt))
  const networkOf = createKnown(MAX_KNOWN, coarseNetworkOf)
  let untilSampled = 1

  function isSampled(): boolean {
    if (sampleEvery === 0) return false
    untilSampled -= 1
    if (untilSampled > 0) return false
    untilSampled = sampleEvery
    return true
  }

  return {
    observe(request) {
      const { record, client } = request
      if (!isSampled() && !(isAlwaysLogged(record) && limit.admits(record.status, isPlanned(record.failureCode))))
        return
      putLine(roomForLine(), request, {
        now: clock(),
        requestId: requestIdOf(request),
        user: record.viewer && hashOf(record.viewer.email),
        network: networkOf(client.address),
      })
    },
    [Symbol.dispose]: () => limit[Symbol.dispose](),
  }
}

function isAlwaysLogged({ status, isOriginRefused }: RequestRecord): boolean {
  return status >= 500 || status === 401 || status === 403 || status === 429 || isOriginRefused
}
